/** What was said, and what tools do. In tables words stay whole: what does not fit is scrolled to. */
export const messages = `
.message { margin-block: 0 1.25rem; overflow-wrap: anywhere }
.message.user { display: flex; justify-content: flex-end }
.bubble { margin: 0; max-width: 85%; padding: .5rem .875rem; border-radius: var(--outer); border-end-end-radius: .25rem; background: var(--raised); white-space: pre-wrap }
.bubble img { display: block; max-width: 100%; max-height: 20rem; margin-block: .25rem; border-radius: var(--inner) }
.markdown > :first-child { margin-block-start: 0 }
.markdown > :last-child { margin-block-end: 0 }
.markdown { margin-block: .75rem }
.markdown li > p { margin-block: .25rem }
.markdown ul, .markdown ol { margin-block: .5rem; padding-inline-start: 1.5rem }
.markdown pre, dd pre { overflow-x: auto; padding: .75rem; border-radius: var(--inner); background: var(--raised); font-size: .875rem }
.markdown code { font-family: ui-monospace, monospace; font-size: .9em }
.markdown :not(pre) > code { padding: .125em .375em; border-radius: .375em; background: var(--raised) }
.markdown :is(h3, h4, h5, h6) { margin-block: 1.25rem .5rem; font-size: 1rem; font-weight: 620; line-height: 1.4 }
.markdown h3 { font-size: 1.1875rem }
.markdown h4 { font-size: 1.0625rem }
.markdown blockquote { margin: .75rem 0; padding-inline-start: .875rem; border-inline-start: 3px solid var(--line); color: var(--quiet) }
.markdown hr { margin-block: 1.25rem; border: 0; border-block-start: 1px solid var(--line) }
.markdown .table { margin-block: .75rem; overflow-x: auto; border: 1px solid var(--line); border-radius: var(--inner) }
.markdown table { width: max-content; min-width: 100%; border-collapse: collapse; overflow-wrap: normal; font-size: .9375rem }
.markdown th, .markdown td { max-width: 16rem; padding: .5rem .75rem; text-align: start; vertical-align: top }
.markdown th { background: var(--raised); font-weight: 600; white-space: nowrap }
.markdown tbody tr { border-block-start: 1px solid var(--line) }
.markdown a { color: var(--accent); text-underline-offset: .15em }
.icon { width: 1.125em; height: 1.125em; flex: none; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; vertical-align: -.2em }
.icon-stop { width: 1.375em; height: 1.375em; fill: currentColor; stroke: none }
.icon-spinner { animation: turn 1s linear infinite }
.tool { margin-block: .375rem; color: var(--quiet); font-size: .9375rem }
.tool summary { display: inline-flex; align-items: center; gap: .5rem; padding: .1875rem .5rem; margin-inline-start: -.5rem; border-radius: .5rem; cursor: pointer; list-style: none }
.tool summary::-webkit-details-marker { display: none }
.tool summary::after { content: ""; width: .375rem; height: .375rem; margin-block-end: .1875rem; border: solid; border-width: 0 1.5px 1.5px 0; rotate: 45deg }
.tool[open] summary::after { margin-block: .1875rem 0; rotate: 225deg }
.tool summary:hover { background: var(--raised) }
.tool.done .icon-tick { color: var(--good) }
.tool.failed .icon-cross { color: var(--bad) }
.tool dl { margin: .375rem 0 .75rem; padding-inline-start: .875rem; border-inline-start: 2px solid var(--line) }
.tool dt { font-size: .8125rem }
.tool dd { margin: .125rem 0 .5rem }
.tool pre { margin: 0; max-height: 16rem; white-space: pre-wrap; overflow: auto }
`;
