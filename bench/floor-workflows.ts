/** The least that Temporal does for what a turn does: start and act; wait for a signal and act. */
import { condition, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

export const answered = defineSignal('answered');
export const isAnswered = defineQuery<boolean>('isAnswered');

const { act } = proxyActivities<{ act(url?: string): Promise<void> }>({ startToCloseTimeout: '1m' });

export async function startAndAct(): Promise<void> {
  await act();
}

/** Calls `url`, where one is given, when it is answered. */
export async function waitAndAct(url?: string): Promise<void> {
  let has = false;
  setHandler(answered, () => void (has = true));
  setHandler(isAnswered, () => has);
  await condition(() => has, '10 minutes');
  await act(url);
}
