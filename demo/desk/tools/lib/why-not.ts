/** Why something was not done, for the model and, through it, for the user. */
import type { ElicitStatus } from '@interlude-ai/tools';

export function whyNot(status: Exclude<ElicitStatus, 'accept'>): string {
  const words = {
    decline: 'the user said no',
    cancel: 'the user closed the question',
    expired: 'nobody answered in time',
    unsupported: 'nobody could be asked from here',
  };
  return words[status];
}
