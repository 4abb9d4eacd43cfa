/** From a person's answer to the tool call it was for. */
import type { Floor } from './floor-client.ts';
import type { McpDouble } from './doubles/mcp.ts';
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { breath, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { Chat, User } from './user.ts';

export async function answering(setup: BenchSetup): Promise<Section> {
  const { floor, samples, dependencies, service } = setup;
  const { database } = service.config;
  const answer = { toTool: [] as number[], response: [] as number[] };
  const bare = { toActivity: [] as number[], overHttp: [] as number[], write: [] as number[] };
  const echo: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await breath();
    echo.push(await timed(() => floor.echo()));
    await breath();
    bare.write.push(await timed(() => floor.write({ database })));
    await breath();
    bare.toActivity.push((await floor.answer()).toActivity);
    bare.overHttp.push(await bareLoopOverHttp(floor, dependencies.mcp));

    await waitingForAnswer(setup, async (user, chat, arrival) => {
      const answeredAt = performance.now();
      const responding = user.accept(chat);
      answer.toTool.push((await arrival) - answeredAt);
      answer.response.push((await responding).tookMs);
    });
  }
  return {
    title: 'From an answer to the tool call',
    rows: [
      {
        name: 'answer → tool / loop',
        meaning: 'POST of `accept` to its tool call at the MCP server, against a bare signal → activity',
        ours: answer.toTool,
        floor: bare.toActivity,
        unit: 'ms',
      },
      {
        name: 'answer → tool / HTTP',
        meaning: 'the same, against a bare HTTP round trip',
        ours: answer.toTool,
        floor: echo,
        unit: 'ms',
      },
      {
        name: 'answer → tool / loop over HTTP',
        meaning: 'the same, against HTTP POST → bare signal → activity → HTTP request: both ends alike',
        ours: answer.toTool,
        floor: bare.overHttp,
        unit: 'ms',
      },
      {
        name: 'answer → receipt',
        meaning: 'the POST of `accept` until it is answered, against an HTTP request with one durable write',
        ours: answer.response,
        floor: bare.write,
        unit: 'ms',
      },
    ],
    aims: [
      {
        name: 'answer → receipt',
        value: median(answer.response),
        atMost: 1.5 * median(bare.write),
        because: '1.5 × HTTP with one durable write',
      },
      {
        name: 'answer → tool call',
        value: median(answer.toTool),
        atMost: 1.2 * median(bare.overHttp),
        because: '1.2 × the bare loop over HTTP',
      },
    ],
  };
}

async function bareLoopOverHttp(floor: Floor, { arrival, bareUrl: url }: McpDouble): Promise<number> {
  const waiting = await floor.waitFor({ url });
  const arrived = arrival(waiting.workflowId);
  await breath();
  const answeredAt = performance.now();
  const responding = floor.signal(waiting);
  const toRequest = (await arrived) - answeredAt;
  await responding;
  return toRequest;
}

/** A turn that waits for its user's account, which is there by now, without anything that has settled the question. */
async function waitingForAnswer(
  { service, dependencies, newUser }: BenchSetup,
  measure: (user: User, chat: Chat, arrival: Promise<number>) => Promise<void>,
): Promise<void> {
  const user = await newUser();
  const chat = await user.chat(say.callTool);
  const arrival = dependencies.mcp.arrival(user.name);
  await breath();
  await service.connectAccounts([user.name]);
  await measure(user, chat, arrival);
  await chat.rest();
}
