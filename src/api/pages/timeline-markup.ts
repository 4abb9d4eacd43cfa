/** A timeline as HTML, for the operators' page and the playground. Pure. */
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { TimelineItem } from '../../turn/timeline/timeline.ts';
import { inTime, lineOf } from '../../turn/timeline/words.ts';
import { timelineEn } from '../../turn/timeline/words/en.ts';
import type { TimelineWords } from '../../turn/timeline/words/en.ts';

interface TimelineRow {
  id: string;
  className: string;
  /** The contents of the list item. */
  body: Html;
}

/** `now`: to show how long unfinished items have lasted. */
export function timelineRows(
  items: readonly TimelineItem[],
  now?: number,
  words: TimelineWords = timelineEn,
): TimelineRow[] {
  let start = items[0]?.at ?? 0;
  return items.map((item) => {
    if (item.kind === 'started') start = item.at;
    const { title, notes, tone } = lineOf(item, now, words);
    const isOpen = item.endedAt === null;
    return {
      id: `${item.turnId}/${item.id}`,
      className: [tone, item.kind, isOpen && 'open', item.path.length > 0 && 'delegated']
        .filter(Boolean)
        .join(' '),
      body: html`<time datetime="${new Date(item.at).toISOString()}">${inTime(item.at - start, words)}</time>
        <div>
          <strong>${title}</strong>${notes.length > 0 && html` <span>${notes.join(' · ')}</span>`}
          ${(item.contents ?? []).map(
            ({ label, text }) =>
              html`<details>
                <summary>${words.contents[label]}</summary>
                <pre tabindex="0">${text}</pre>
              </details>`,
          )}
        </div>`,
    };
  });
}

export function timelineMarkup(
  items: readonly TimelineItem[],
  now?: number,
  words: TimelineWords = timelineEn,
): Html {
  return html`<ol class="timeline">
    ${timelineRows(items, now, words).map(({ className, body }) => html`<li class="${className}">${body}</li>`)}
  </ol>`;
}

/** Uses `--quiet`, `--line`, `--good`, `--bad`, `--warn`, `--chip` and `--text` of the page. */
export const timelineStyle = `
.timeline { list-style: none; margin: 0; padding: 0; font-size: .9375rem }
.timeline li { position: relative; display: grid; grid-template-columns: 3.75rem 1fr; gap: 0 1.625rem; padding-block: .3125rem; overflow-wrap: anywhere }
.timeline li::before { content: ""; position: absolute; inset-block: 0; inset-inline-start: 4.5rem; border-inline-start: 2px solid var(--line) }
.timeline li:first-child::before, .timeline li.started::before { inset-block-start: .875rem }
.timeline li:last-child::before { inset-block-end: calc(100% - .875rem) }
.timeline li.ended::before { inset-block-end: auto; height: .875rem }
.timeline li::after { content: ""; position: absolute; inset-block-start: .6875rem; inset-inline-start: calc(4.5rem - .25rem); width: .625rem; height: .625rem; border-radius: 50%; background: var(--quiet) }
.timeline li.good::after { background: var(--good) }
.timeline li.bad::after { background: var(--bad) }
.timeline li.waiting::after, .timeline li.open::after { background: var(--warn); border-radius: 2px }
.timeline li.started:not(:first-child) { margin-block-start: .75rem }
.timeline time { color: var(--quiet); font-size: .8125rem; line-height: 1.375rem; font-variant-numeric: tabular-nums; text-align: end; white-space: nowrap }
.timeline strong { font-weight: 600 }
.timeline span { color: var(--quiet) }
.timeline li.waiting strong { color: var(--warn) }
.timeline li.bad strong { color: var(--bad) }
.timeline li.delegated > div { padding-inline-start: 1rem }
.timeline details { margin-block-start: .25rem }
.timeline summary { color: var(--quiet); font-size: .875rem; cursor: pointer }
.timeline pre { margin: .25rem 0; padding: .5rem .75rem; max-height: 16rem; overflow: auto; border-radius: .5rem; background: var(--chip); color: var(--text); font: .8125rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
`;
