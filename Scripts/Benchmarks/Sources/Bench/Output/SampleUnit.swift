import Results

/// What samples are counted in, under a name that Foundation has not.
typealias SampleUnit = Unit
