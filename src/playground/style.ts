/** Of what the script draws; the page's own sheet has the colours and the frame. */
export const style = `
.bar select, .bar button { border-color: light-dark(#8b8d90, #73777e) }
.bar button:hover { background: var(--raised) }
aside .timeline { flex: 1; min-height: 0; padding: .25rem 1rem 1rem .25rem; overflow-y: auto; font-size: .875rem }
.empty { text-wrap: pretty }
.again { padding: 0; border: 0; background: none; color: inherit; font: inherit; text-decoration: underline; text-underline-offset: .15em; cursor: pointer }
.notices p { margin: 0; padding: .625rem 1rem; border-block-end: 1px solid var(--line); background: var(--raised); font-size: .9375rem; text-wrap: pretty }
@media (max-width: 48rem) {
  .bar button span { display: none }
  aside { max-height: 7rem }
}
`;
