/** What happened in a turn, for a terminal. Pure. */
import { stateOf } from '../../service/operators.ts';
import type { TurnStory } from '../../service/operators.ts';
import { inTime, lineOf, ownerInWords, waitInWords } from '../../timeline/words.ts';

export function timelineOfStory({ turn, items, links, waitedMs }: TurnStory, now: number): string {
  const { agent, turnId, conversation, createdAt, endedAt, buildId, usage } = turn;
  const took = inTime((endedAt ?? now) - createdAt);
  const waited = waitedMs > 0 ? `, of which ${inTime(waitedMs)} waiting for people` : '';
  const rows: [string, string | null][] = [
    ['turn', turnId],
    ['conversation', conversation],
    ['tenant', turn.tenant],
    ['accepted', new Date(createdAt).toISOString()],
    [endedAt === null ? 'goes on for' : 'took', took + waited],
    ['tokens', usage && `${usage.inputTokens} in, ${usage.outputTokens} out`],
    ['version', buildId || null],
    ['trace', links.trace],
    ['Temporal', links.temporal],
  ];
  const [first] = items;
  return [
    `${agent} for ${ownerInWords(turn)}: ${stateOf(turn)}`,
    ...turn.waitsFor.map((question) => `  ${waitInWords(question, now)}\n  interlude cancel ${question.id}`),
    '',
    ...rows.flatMap(([name, text]) => (text === null ? [] : [`  ${name.padEnd(13)} ${text}`])),
    '',
    ...items.map((item) => {
      const { title, notes } = lineOf(item, now);
      const since = inTime(item.at - (first?.at ?? item.at)).padStart(8);
      const contents = (item.contents ?? []).map(({ label, text }) => indented(`${label}: ${text}`));
      return [`${since}  ${[title, ...notes].join(' · ')}`, ...contents].join('\n');
    }),
  ].join('\n');
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `            ${line}`)
    .join('\n');
}
