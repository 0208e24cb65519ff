import Testing

@testable import Report

@Suite struct ElementTests {
    @Test func textIsEscaped() {
        let element = Element("text", ["class": "a\"b"], text: "1 < 2 & \"x\" > \u{1}y")
        #expect(
            element.source
                == "<text class=\"a&quot;b\">1 &lt; 2 &amp; &quot;x&quot; &gt;  y</text>"
        )
    }

    @Test func elementsWithoutContentCloseThemselves() {
        let element = Element("g", [:], [Element("path", ["d": "M0 0"])])
        #expect(element.source == "<g>\n<path d=\"M0 0\"/>\n</g>")
    }
}
