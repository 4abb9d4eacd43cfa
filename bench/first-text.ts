/** How long a reader looks at nothing. */
import { say } from './doubles/model.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { breath, timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

export async function firstText({ floor, samples, newUser }: BenchSetup): Promise<Section> {
  const ours = { firstByte: [] as number[], firstText: [] as number[] };
  const direct = { firstByte: [] as number[], firstText: [] as number[] };
  const echo: number[] = [];
  const toActivity: number[] = [];
  const start: number[] = [];
  const user = await newUser();
  for (let sample = 0; sample < samples; sample++) {
    await breath();
    echo.push(await timed(() => floor.echo()));
    await breath();
    const bare = await floor.start();
    toActivity.push(bare.toActivity);
    start.push(bare.rpc);
    await breath();
    const called = await floor.callModel();
    direct.firstByte.push(called.firstByte);
    direct.firstText.push(called.firstText);
    await breath();
    const chat = await user.chat(say.talk);
    ours.firstByte.push(chat.firstByte);
    ours.firstText.push(chat.firstText ?? NaN);
    await chat.rest();
  }
  const added = ours.firstText.map((value, index) => value - (direct.firstText[index] ?? NaN));
  return {
    title: 'Until something is to be seen',
    rows: [
      {
        name: 'first byte / direct',
        meaning: 'POST /run/api/chat to its first byte, against the first byte of the model called directly',
        ours: ours.firstByte,
        floor: direct.firstByte,
        unit: 'ms',
      },
      {
        name: 'first byte / start',
        meaning: 'the same, against a bare workflow start: the byte says that the turn runs',
        ours: ours.firstByte,
        floor: start,
        unit: 'ms',
      },
      {
        name: 'first byte / HTTP',
        meaning: 'the same, against a bare HTTP round trip',
        ours: ours.firstByte,
        floor: echo,
        unit: 'ms',
      },
      {
        name: 'first text / direct',
        meaning: 'POST /run/api/chat to the first word, against the first word of the model called directly',
        ours: ours.firstText,
        floor: direct.firstText,
        unit: 'ms',
      },
      {
        name: 'added / start',
        meaning: 'first word minus the direct first word, against bare workflow start → first activity',
        ours: added,
        floor: toActivity,
        unit: 'ms',
      },
    ],
    aims: [
      {
        name: 'added to the first text',
        value: median(added),
        atMost: 1.4 * median(toActivity),
        because: '1.4 × bare start → first activity',
      },
    ],
  };
}
