import Glibc

/// A folder of the sources, or the files beside the folders.
struct Layer: Hashable {
    let name: String
    let level: Int
}

/// Where a symbol is declared.
struct Declaration {
    let file: Substring
    let layer: Layer
}

func fail(_ message: String) -> Never {
    fputs("error: \(message)\n", stderr)
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count > 4 else { fail("usage: arrows INDEX SOURCES SHARED-FILE FOLDER…") }
let sources = arguments[2] + "/"
let sharedFile = arguments[3]
let layers = arguments[4...].enumerated().map { Layer(name: $1, level: $0) }

/// The layer of a file, by its path in the sources.
func layer(of file: Substring) -> Layer {
    let folder = file.contains("/") ? file.prefix { $0 != "/" } : "."
    guard let layer = layers.first(where: { $0.name == folder }) else {
        fail("\(folder)/ has no place in the order of the folders.")
    }
    return layer
}

guard let index = Index(at: arguments[1]) else { fail("There is no index at \(arguments[1]).") }
// The index keeps files that were removed.
let files = index.occurrences(below: sources).filter { access($0.key, F_OK) == 0 }
    .map { (file: $0.key.dropFirst(sources.count), occurrences: $0.value) }
    .sorted { $0.file < $1.file }

var declarations: [String: Declaration] = [:]
for (file, occurrences) in files {
    let layer = layer(of: file)
    for found in occurrences where found.isDeclaration {
        declarations[found.symbol] = Declaration(file: file, layer: layer)
    }
}
for layer in layers where !declarations.values.contains(where: { $0.layer == layer }) {
    fail("The index knows no declaration of \(layer.name)/.")
}

var reported: Set<String> = []
for (file, occurrences) in files {
    let own = layer(of: file)
    for found in occurrences where found.isReference {
        guard let declaration = declarations[found.symbol], declaration.layer.level > own.level,
            declaration.file != sharedFile
        else { continue }
        let message = """
            \(file):\(found.line): error: \(own.name)/ names \(found.name) of \
            \(declaration.file), which is above it
            """
        if reported.insert(message).inserted { fputs("\(message)\n", stderr) }
    }
}
exit(reported.isEmpty ? 0 : 1)
