/// Puts a value in the place of another; answers the other.
func exchange<Value>(_ place: inout Value, with value: Value) -> Value {
    let old = place
    place = value
    return old
}
