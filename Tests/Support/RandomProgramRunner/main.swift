import RandomPrograms
import Glibc

let a = CommandLine.arguments
let stage = Stage(rawValue: a[3])!
var failures = 0
for seed in UInt64(a[1])!...UInt64(a[2])! {
    let program = Generator.program(seed: seed, for: stage)
    guard let found = program.disagreement(on: stage) else { continue }
    failures += 1
    print("seed \(seed) \(stage)"); fflush(nil)
    if failures < 6, a.count > 4 {
        var shrinker = Shrinker { $0.disagreement(on: stage) != nil }
        let small = shrinker.shrink(program)
        print(SwiftText.test(of: small, named: "seed\(seed)")); fflush(nil)
        print(small.disagreement(on: stage)?.description ?? "flaky: \(found.description)");
        fflush(nil)
    } else {
        print(found.description)
    }
}
print(stage, failures); fflush(nil)
