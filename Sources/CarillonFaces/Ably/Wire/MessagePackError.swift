/// Says what makes bytes no MessagePack, or MessagePack that is not accepted; holds nothing of them.
enum MessagePackError: String, Error, CaseIterable {
    case empty = "a value is needed, there is nothing"
    /// They end in the middle of a value, or announce more than there is.
    case endsEarly = "it ends too early"
    /// Something follows the value.
    case trailing = "there is something after the end of the value"
    /// Arrays and maps stand too deep inside each other.
    case tooDeep = "arrays and maps are nested too deeply"
    /// There are more values than an honest body has.
    case tooMany = "there are too many values"
    /// The key of a map is no text.
    case keyIsNoText = "the keys of a map must be texts"
    /// Two keys of a map are the same.
    case duplicateKey = "a key of a map was used before in it"
    /// A floating-point number is an infinity, or none at all.
    case notANumber = "infinities and NaN are not allowed"
    /// An extension type, of which none is known here.
    case extensionType = "extension types are not known here"
    /// The one byte that means nothing.
    case reserved = "a byte means nothing"
}
