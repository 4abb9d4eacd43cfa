/** What a person in Slack reads when something is refused. Pure. */
import type { FoundAsked } from '../../service/slack/questions.ts';
import type { Stopped } from '../../service/slack/stop.ts';
import type { SlackProfile } from '../../slack/profile.ts';

/** Where somebody asks for a question and is shown none. */
export const notShownWords = {
  'not-linked': 'I do not know who you are yet. Connect your account first: `/interlude link`.',
  unknown: 'There is no such question any more.',
  'somebody-elses': 'This is for somebody else: only whoever was asked can answer it.',
} satisfies Record<Exclude<FoundAsked['kind'], 'own'>, string>;

export const stopWords = {
  stopped: 'I stop.',
  idle: 'I am not at work on anything of yours here.',
  'not-theirs': 'Only whoever asked me can stop me.',
} satisfies Record<Stopped, string>;

/** To people whom no link is offered to. */
export const strangerWords = {
  guest:
    'I answer members of this workspace. If you have an account of your own with us, connect it with `/interlude link`, then ask again.',
  external:
    'I answer members of this workspace only. Somebody who looks after it can send you a link with `/interlude link @you`.',
} satisfies Partial<Record<SlackProfile['kind'], string>>;
