/// The modes that the library names; the raw value of each is its number.
enum KnownMode: Int, CaseIterable {
    case `default`, common, connectionReply, modalPanel, eventTracking

    var name: String {
        switch self {
        case .default: "kCFRunLoopDefaultMode"
        case .common: "kCFRunLoopCommonModes"
        case .connectionReply: "NSConnectionReplyMode"
        case .modalPanel: "NSModalPanelRunLoopMode"
        case .eventTracking: "NSEventTrackingRunLoopMode"
        }
    }
}
