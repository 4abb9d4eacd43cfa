/** What a token takes from the model's mouth to the reader's eye. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { say, tokensIn } from './doubles/model.ts';
import { median } from './report.ts';
import type { Row, Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';

const tokens = 100;
/** Tokens per second: about 33, as most models speak, and 100. */
const paces = [30, 10];

/** One answer, all times in milliseconds. */
interface Answer {
  /** Of each token, from the model to the reader. */
  delays: number[];
  /** Between two pieces of text. */
  gaps: number[];
  /** From the first token at the model to the last one at the reader. */
  duration: number;
}

type Heard = (delta: string, at: number) => void;

export async function streaming(setup: BenchSetup): Promise<Section> {
  const rounds = setup.samples < 30 ? 2 : 6;
  const user = await setup.newUser();
  const rows: Row[] = [];
  const aims: Section['aims'] = [];
  for (const everyMs of paces) {
    const text = say.tokens(tokens, everyMs);
    const ours: Answer[] = [];
    const direct: Answer[] = [];
    for (let round = 0; round < rounds; round++) {
      await breath();
      direct.push(
        await answer(setup, (heard) => callDirectly(setup.dependencies.model.baseURL, text, heard)),
      );
      await breath();
      ours.push(await answer(setup, (heard) => user.listen(text, heard)));
    }
    rows.push(...rowsOf(everyMs, ours, direct));
    const gapOf = (answers: Answer[]) => median(answers.flatMap(({ gaps }) => gaps));
    aims.push({
      name: `gap, ${everyMs} ms apart`,
      value: gapOf(ours),
      atMost: 1.2 * gapOf(direct),
      because: '1.2 × the model read directly',
    });
  }
  return { title: `From the model to the reader, token by token`, rows, aims };
}

async function answer(
  { dependencies: { model } }: BenchSetup,
  listen: (heard: Heard) => Promise<void>,
): Promise<Answer> {
  const heardAt: number[] = [];
  const pieces: number[] = [];
  model.begin();
  await listen((delta, at) => {
    pieces.push(at);
    for (const index of tokensIn(delta)) heardAt[index] = at;
  });
  const { tokensAt } = model;
  if (heardAt.length !== tokens) throw new Error(`${heardAt.length} of ${tokens} tokens were heard`);
  return {
    delays: heardAt.map((at, index) => at - (tokensAt[index] ?? NaN)),
    gaps: pieces.slice(1).map((at, index) => at - (pieces[index] ?? NaN)),
    duration: (heardAt.at(-1) ?? NaN) - (tokensAt[0] ?? NaN),
  };
}

function rowsOf(everyMs: number, ours: Answer[], direct: Answer[]): Row[] {
  const row = (name: string, meaning: string, of: (answer: Answer) => number[]): Row => ({
    name: `${name}, ${everyMs} ms apart`,
    meaning,
    ours: ours.flatMap(of),
    floor: direct.flatMap(of),
    unit: 'ms',
  });
  const added = median(ours.flatMap(({ delays }) => delays)) - median(direct.flatMap(({ delays }) => delays));
  return [
    row(
      'token',
      `each of ${tokens} tokens, from the model to the reader of the UI stream, against reading the model directly (+${added.toFixed(1)} ms)`,
      ({ delays }) => delays,
    ),
    row('gap', 'between two pieces of text at the reader, against the same', ({ gaps }) => gaps),
    row(
      'whole answer',
      'from the first token at the model to the last one at the reader, against the same',
      ({ duration }) => [duration],
    ),
  ];
}

async function callDirectly(baseURL: string, text: string, heard: Heard): Promise<void> {
  const { body } = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'user', content: text }] }),
  });
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  for await (const { data } of body?.pipeThrough(decoder).pipeThrough(new EventSourceParserStream()) ?? []) {
    if (data === '[DONE]') continue;
    const chunk = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
    const content = chunk.choices[0]?.delta.content;
    if (content !== undefined) heard(content, performance.now());
  }
}
