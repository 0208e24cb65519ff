import Foundation
import RawUV
import Results

extension Machine {
    /// The machine the program runs on.
    static var current: Machine {
        Machine(
            name: ProcessInfo.processInfo.hostName,
            processor: field("model name", of: "/proc/cpuinfo") ?? "unknown",
            cores: ProcessInfo.processInfo.activeProcessorCount,
            memory: memory,
            kernel: text(of: "/proc/sys/kernel/osrelease") ?? "unknown",
            distribution: field("PRETTY_NAME", of: "/etc/os-release") ?? "unknown",
            swift: swiftVersion,
            libuv: String(cString: raw_uv_version()),
            nio: nioVersion,
            date: Date.now.ISO8601Format()
        )
    }

    private static var memory: String {
        let gibibytes = Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824
        return "\(Int(gibibytes.rounded())) GiB"
    }

    private static func text(of path: String) -> String? {
        (try? String(contentsOfFile: path, encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The value of the first line that begins with a name, without quotes.
    private static func field(_ name: String, of path: String) -> String? {
        let line = text(of: path)?.split(separator: "\n").first { $0.hasPrefix(name) }
        let value = line?.split(maxSplits: 1) { $0 == ":" || $0 == "=" }.last
        return value?.trimmingCharacters(in: CharacterSet(charactersIn: " \t\""))
    }

    /// As the compiler says that is on the path, with which the script has built this.
    private static var swiftVersion: String {
        guard let pipe = popen("swift --version 2>/dev/null", "r") else { return "unknown" }
        defer { pclose(pipe) }
        var line = [UInt8](repeating: 0, count: 256)
        line.removeLast(line.count - fread(&line, 1, line.count, pipe))
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard let index = words.firstIndex(of: "version"), index + 1 < words.endIndex else {
            return "unknown"
        }
        return String(words[index + 1])
    }

    /// As the package manager has resolved it.
    private static var nioVersion: String {
        struct Resolved: Decodable {
            struct Pin: Decodable {
                struct State: Decodable { let version: String? }
                let identity: String
                let state: State
            }
            let pins: [Pin]
        }
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Package.resolved")
        guard let data = try? Data(contentsOf: package),
            let resolved = try? JSONDecoder().decode(Resolved.self, from: data)
        else { return "unknown" }
        return resolved.pins.first { $0.identity == "swift-nio" }?.state.version ?? "unknown"
    }
}
