/// The style sheet of the page.
enum PageStyle {
    static let rules = """
        :root { color-scheme: light dark; \(Palette.light.assignments) }
        @media (prefers-color-scheme: dark) {
        :root { \(Palette.dark.assignments) }
        }
        \(layout)
        \(tables)
        \(StyleSheet.embedded)
        """

    private static let layout = """
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--ink); \
        font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
        main { max-width: 1160px; margin: 0 auto; padding: 24px 16px 64px; }
        h1 { font-size: 28px; line-height: 1.2; margin: 8px 0 12px; }
        h2 { font-size: 21px; line-height: 1.3; margin: 48px 0 8px; padding-top: 16px; \
        border-top: 1px solid var(--grid); }
        p { max-width: 75ch; margin: 8px 0; }
        .notice { border-left: 4px solid var(--bad); padding-left: 12px; }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(165px, 1fr)); \
        gap: 10px 24px; margin: 20px 0 0; }
        .facts dt { color: var(--muted); font-size: 13px; }
        .facts dd { margin: 0; overflow-wrap: anywhere; }
        .charts { display: grid; gap: 28px 32px; align-items: start; margin: 20px 0; \
        grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); }
        .charts.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); }
        .charts figure { margin: 0; }
        .charts svg { display: block; width: 100%; height: auto; max-width: 560px; }
        """

    private static let tables = """
        summary { cursor: pointer; color: var(--muted); padding: 6px 0; }
        .table { overflow-x: auto; margin: 0 0 12px; }
        table { border-collapse: separate; border-spacing: 0; font-size: 14px; \
        font-variant-numeric: tabular-nums; }
        .caption { color: var(--muted); font-size: 14px; margin: 12px 0 0; }
        th, td { padding: 6px 14px 6px 0; vertical-align: top; text-align: right; \
        border-top: 1px solid var(--grid); white-space: nowrap; }
        th { font-weight: 600; }
        th:first-child { text-align: left; white-space: normal; min-width: 130px; \
        position: sticky; left: 0; background: var(--ground); }
        thead th { color: var(--muted); vertical-align: bottom; border-top: none; }
        tbody th { font-weight: 400; }
        td .figure { font-weight: 600; }
        td .none { color: var(--muted); font-weight: 400; }
        td small { display: block; font-size: 12.5px; }
        .plain { color: var(--muted); }
        .good { color: var(--good); }
        .bad { color: var(--bad); }
        """
}
