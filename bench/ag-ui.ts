/** What AG-UI costs: a run against the same turn of the chat, and an interrupt with its resume against a question of the chat. */
import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { answer } from './doubles/asking-tools.ts';
import { say } from './doubles/model.ts';
import type { Section } from './report.ts';
import { breath } from './setup.ts';
import type { BenchSetup } from './setup.ts';

interface Event {
  type: string;
  outcome?: { interrupts?: { id: string }[] };
}

export async function agUi({ samples, newUser, service }: BenchSetup): Promise<Section> {
  const user = await newUser();
  const ours = { firstEvent: [] as number[], firstText: [] as number[], question: [] as number[] };
  const chat = { firstByte: [] as number[], firstText: [] as number[], question: [] as number[] };

  /** The time of the first event of each type, in milliseconds; and the event that ended the run. */
  async function run(agent: string, threadId: string, more: object) {
    const startedAt = performance.now();
    const body = { threadId, runId: randomUUID(), protocolVersion: '1.0', messages: [], ...more };
    const response = await fetch(`${service.baseUrl}/run/agents/${agent}/ag-ui`, {
      method: 'POST',
      headers: user.headers,
      body: JSON.stringify(body),
    });
    const at = new Map<string, number>();
    let last: Event | undefined;
    const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
    const events = response.body?.pipeThrough(decoder).pipeThrough(new EventSourceParserStream()) ?? [];
    for await (const { data } of events) {
      last = JSON.parse(data) as Event;
      if (!at.has(last.type)) at.set(last.type, performance.now());
    }
    const since = (type: string) => (at.get(type) ?? NaN) - startedAt;
    return { at, since, interrupts: last?.outcome?.interrupts ?? [] };
  }
  const saying = (content: string) => ({ messages: [{ id: randomUUID(), role: 'user', content }] });

  async function ask(text: string): Promise<number> {
    const threadId = randomUUID();
    const asked = await run('asker', threadId, saying(text));
    const resume = asked.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved',
      payload: answer,
    }));
    const { at } = await run('asker', threadId, { resume });
    return (at.get('TOOL_CALL_RESULT') ?? NaN) - (asked.at.get('TOOL_CALL_START') ?? NaN);
  }

  const call = `${say.call} rounds__ask`;
  await ask(call);
  for (let sample = 0; sample < samples; sample++) {
    await breath();
    const told = await user.chat(say.talk);
    chat.firstByte.push(told.firstByte);
    chat.firstText.push(told.firstText ?? NaN);
    await told.rest();
    await breath();
    const { since } = await run('assistant', randomUUID(), saying(say.talk));
    ours.firstEvent.push(since('RUN_STARTED'));
    ours.firstText.push(since('TEXT_MESSAGE_CONTENT'));
    await breath();
    chat.question.push(await user.call(call, { agent: 'asker', content: answer }));
    await breath();
    ours.question.push(await ask(call));
  }
  return {
    title: 'A run of AG-UI',
    rows: [
      {
        name: 'first event / chat',
        meaning: 'RUN_STARTED, against the first byte of the same turn of the chat',
        ours: ours.firstEvent,
        floor: chat.firstByte,
        unit: 'ms',
      },
      {
        name: 'first text / chat',
        meaning: 'the first word, against that of the chat',
        ours: ours.firstText,
        floor: chat.firstText,
        unit: 'ms',
      },
      {
        name: 'interrupt and resume / chat',
        meaning:
          'from a call that asks to its result, in two runs, against an answer beside the stream of the chat',
        ours: ours.question,
        floor: chat.question,
        unit: 'ms',
      },
    ],
    aims: [],
  };
}
