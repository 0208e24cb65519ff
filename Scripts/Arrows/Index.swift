import CIndexStore

/// The index that a debug build writes: for each file, what it declares and what it names.
struct Index {
    /// A place in a file where something is declared or named.
    struct Occurrence {
        /// The identity of the declaration.
        let symbol: String
        let name: String
        let isDeclaration: Bool
        let isReference: Bool
        let line: Int
    }

    private let store: UnsafeMutableRawPointer

    /// Opens an index; returns `nil` if there is none at the path.
    init?(at path: String) {
        guard let store = indexstore_store_create(path, nil) else { return nil }
        self.store = store
    }

    /// The occurrences in each file below a folder.
    func occurrences(below folder: String) -> [String: [Occurrence]] {
        var found: [String: [Occurrence]] = [:]
        for unit in units {
            guard let reader = indexstore_unit_reader_create(store, unit, nil) else { continue }
            defer { indexstore_unit_reader_dispose(reader) }
            let file = String(indexstore_unit_reader_get_main_file(reader))
            guard file.hasPrefix(folder) else { continue }
            for record in records(of: reader) {
                found[file, default: []] += occurrences(in: record)
            }
        }
        return found
    }

    private var units: [String] {
        collect { (units: UnsafeMutablePointer<[String]>) in
            indexstore_store_units_apply_f(store, 0, units) { units, name in
                Self.append(String(name), to: units)
                return true
            }
        }
    }

    private func records(of unit: UnsafeMutableRawPointer) -> [String] {
        collect { (records: UnsafeMutablePointer<[String]>) in
            indexstore_unit_reader_dependencies_apply_f(unit, records) { records, dependency in
                let kind = indexstore_unit_dependency_get_kind(dependency)
                if kind == INDEXSTORE_UNIT_DEPENDENCY_RECORD {
                    let name = String(indexstore_unit_dependency_get_name(dependency))
                    Self.append(name, to: records)
                }
                return true
            }
        }
    }

    private func occurrences(in record: String) -> [Occurrence] {
        guard let reader = indexstore_record_reader_create(store, record, nil) else { return [] }
        defer { indexstore_record_reader_dispose(reader) }
        return collect { (found: UnsafeMutablePointer<[Occurrence]>) in
            indexstore_record_reader_occurrences_apply_f(reader, found) { found, occurrence in
                if let occurrence { Self.append(Occurrence(occurrence), to: found) }
                return true
            }
        }
    }

    private static func append<Element>(_ element: Element, to array: UnsafeMutableRawPointer?) {
        array?.assumingMemoryBound(to: [Element].self).pointee.append(element)
    }

    /// Runs a function of the library that calls back with the address of an array.
    private func collect<Element>(
        _ body: (UnsafeMutablePointer<[Element]>) -> Bool
    ) -> [Element] {
        var elements: [Element] = []
        _ = withUnsafeMutablePointer(to: &elements, body)
        return elements
    }
}

extension Index.Occurrence {
    fileprivate init(_ occurrence: UnsafeMutableRawPointer) {
        let symbol = indexstore_occurrence_get_symbol(occurrence)
        let roles = indexstore_occurrence_get_roles(occurrence)
        var (line, column): (UInt32, UInt32) = (0, 0)
        indexstore_occurrence_get_line_col(occurrence, &line, &column)
        self.symbol = String(indexstore_symbol_get_usr(symbol))
        name = String(indexstore_symbol_get_name(symbol))
        isDeclaration = roles & UInt64(INDEXSTORE_ROLE_DEFINITION) != 0
        isReference = roles & UInt64(INDEXSTORE_ROLE_REFERENCE) != 0
        self.line = Int(line)
    }
}

extension String {
    fileprivate init(_ text: indexstore_string_ref_t) {
        let bytes = UnsafeBufferPointer(start: text.data, count: text.length)
        self.init(decoding: bytes.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
