import Results

/// The unit of samples, under a name that Foundation has not.
typealias SampleUnit = Unit
