/** Of what the script draws; the page's own sheet has the colours and the frame. */
export const style = `
.bar select, .bar button { border-color: light-dark(#8b8d90, #73777e) }
.bar button:hover { background: var(--raised) }
aside ol { padding-block-start: .25rem }
aside li { display: grid; grid-template-columns: 2.75rem 1fr; gap: 0 .75rem; align-items: baseline; border: 0; padding-block: .1875rem }
aside li.first:not(:first-child) { margin-block-start: .5rem; padding-block-start: .6875rem; border-block-start: 1px solid var(--line) }
aside time { color: var(--quiet); font-size: .8125rem; font-variant-numeric: tabular-nums }
.empty { text-wrap: pretty }
.again { padding: 0; border: 0; background: none; color: inherit; font: inherit; text-decoration: underline; text-underline-offset: .15em; cursor: pointer }
.notices p { margin: 0; padding: .625rem 1rem; border-block-end: 1px solid var(--line); background: var(--raised); font-size: .9375rem; text-wrap: pretty }
@media (max-width: 48rem) {
  .bar button span { display: none }
  aside { max-height: 7rem }
}
`;
