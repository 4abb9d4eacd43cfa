/** What A2A costs: a turn by way of it, against the same turn of the chat, and a delegate by way of it, against a local one. */
import { answer } from './doubles/asking-tools.ts';
import { say } from './doubles/model.ts';
import type { Section } from './report.ts';
import { breath, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { User } from './user.ts';

export async function a2a({ samples, newUser }: BenchSetup): Promise<Section> {
  const user = await newUser();
  const task: number[] = [];
  const chat: number[] = [];
  const taskStream: number[] = [];
  const chatStream: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    await breath();
    chat.push(await timed(() => user.ask(say.talk)));
    await breath();
    task.push(await timed(() => user.sendTask(say.talk, 'send')));
    await breath();
    chatStream.push(await timed(() => user.listen(say.talk, () => undefined)));
    await breath();
    taskStream.push(await timed(() => user.sendTask(say.talk, 'stream')));
  }
  const [local, far] = await delegates(user, samples);
  return {
    title: 'A turn by way of A2A',
    rows: [
      {
        name: 'task / turn',
        meaning: 'a blocking message of A2A to its completed task, against the same turn of the chat as JSON',
        ours: task,
        floor: chat,
        unit: 'ms',
      },
      {
        name: 'task stream / feed',
        meaning:
          'a streamed message of A2A to the end of its stream, against the same turn as a stream of the chat',
        ours: taskStream,
        floor: chatStream,
        unit: 'ms',
      },
      {
        name: 'remote / local delegate: call',
        meaning:
          'an agent hands a task to another, which calls a tool: an agent by way of A2A (the same service, as if it were elsewhere), against a delegate of its own',
        ours: far.plain,
        floor: local.plain,
        unit: 'ms',
      },
      {
        name: 'remote / local delegate: question',
        meaning: 'the same, with a tool that asks once, from the message to the end of the turn',
        ours: far.ask,
        floor: local.ask,
        unit: 'ms',
      },
    ],
    aims: [],
  };
}

interface Delegated {
  plain: number[];
  ask: number[];
}

async function delegates(user: User, samples: number): Promise<[local: Delegated, far: Delegated]> {
  const taken = { helper: { plain: [], ask: [] } as Delegated, far: { plain: [], ask: [] } as Delegated };
  const ask = (agent: 'helper' | 'far', tool: 'plain' | 'ask') =>
    timed(() => user.call(say.handOn(agent, `rounds__${tool}`), { agent: 'lead', content: answer }));
  const kinds = (['helper', 'far'] as const).flatMap((agent) =>
    (['plain', 'ask'] as const).map((tool) => [agent, tool] as const),
  );
  // The first ones learn what the server speaks, and the card.
  for (const [agent, tool] of kinds) await ask(agent, tool);
  for (let sample = 0; sample < samples; sample++)
    for (const [agent, tool] of kinds) {
      await breath();
      taken[agent][tool].push(await ask(agent, tool));
    }
  return [taken.helper, taken.far];
}
