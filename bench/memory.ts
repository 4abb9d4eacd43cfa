/** What a turn costs while its person thinks, in a process that does nothing else. */
import { eachOf } from './each-of.ts';
import { startFloor } from './floor-client.ts';
import { say } from './doubles/model.ts';
import type { Section } from './report.ts';
import { breath, setUp } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { Chat, User } from './user.ts';

export async function memory(setup: BenchSetup): Promise<Section> {
  const { dependencies, client, samples } = setup;
  const count = samples < 30 ? 50 : 200;
  const kibibytesEach = (bytes: number) => bytes / 1024 / count;

  await using fresh = await setUp(dependencies, client, samples);
  const asNew = (await fresh.service.inside('memory')).resident;
  await eachOf(count, 5, async () => (await fresh.newUser()).ask(say.briefly));
  const warm = await fresh.service.inside('memory');
  const waiting: { user: User; chat: Chat }[] = [];
  await eachOf(count, 5, async () => {
    const user = await fresh.newUser();
    const chat = await user.chat(say.callTool);
    await chat.leave();
    waiting.push({ user, chat });
  });
  const cached = await fresh.service.inside('memory');
  await fresh.service.restart();
  const evicted = (await fresh.service.inside('memory')).resident;

  const resumed: number[] = [];
  const loop: number[] = [];
  for (const { user, chat } of waiting.slice(0, samples)) {
    await breath();
    loop.push((await fresh.floor.answer()).toActivity);
    const arrival = dependencies.mcp.arrival(user.name);
    await fresh.service.connectAccounts([user.name]);
    const answeredAt = performance.now();
    const responding = user.accept(chat);
    resumed.push((await arrival) - answeredAt);
    await responding;
  }
  await using floor = await startFloor({ ...dependencies.temporal, modelUrl: dependencies.model.baseURL });
  await floor.run({ count, atOnce: 5 });
  const bare = await floor.wait({ count });
  return {
    title: `${count} turns wait for a person`,
    rows: [
      {
        name: 'waiting turn',
        meaning: 'resident memory each adds to API and worker, clients gone; against a bare waiting workflow',
        ours: [kibibytesEach(cached.resident - warm.resident)],
        floor: [kibibytesEach(bare.bytesEach * count)],
        unit: 'KiB',
      },
      {
        name: 'waiting turn, in use',
        meaning: 'the same, of memory in use on the heaps of all threads, and beside them',
        ours: [kibibytesEach(cached.inUse - warm.inUse)],
        unit: 'KiB',
      },
      {
        name: 'waiting turn, evicted',
        meaning:
          'the same after a restart, against the process as it was when no turn waited; near 0 is noise',
        ours: [kibibytesEach(evicted - asNew)],
        unit: 'KiB',
      },
      {
        name: 'answer → tool, evicted',
        meaning:
          'the first answer after the restart to the tool call, against a bare signal → activity, cached',
        ours: resumed,
        floor: loop,
        unit: 'ms',
      },
    ],
    aims: [
      {
        name: 'waiting turn, in use',
        value: kibibytesEach(cached.inUse - warm.inUse),
        atMost: 102,
        because: 'KiB in use',
      },
    ],
  };
}
