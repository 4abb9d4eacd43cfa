/** What is to be known about the page itself. */
import type { Agents } from './use-agents.ts';
import type { Opened } from './use-opened.ts';
import { useStatus } from './sign-in.ts';
import type { SignIn } from './sign-in.ts';
import { keepForSignIn } from './address.ts';
import { TryAgain } from './try-again.tsx';

interface Props {
  signIn: SignIn;
  agents: Agents;
  opened: Opened;
}

export function Notices({ signIn, agents, opened }: Props) {
  const status = useStatus(signIn);
  return (
    <div className="notices" role="status">
      {status === 'over' && (
        <p>
          Your sign-in has ended. The conversation is kept, and goes on when you are signed in again.{' '}
          <a href="/auth/login?to=playground" onClick={keepForSignIn}>
            Sign in again
          </a>
        </p>
      )}
      {status === 'replaced' && (
        <p>
          Somebody else has signed in, in another window of this browser. <a href="/">Go on as they</a>
        </p>
      )}
      {status === 'valid' && agents.problem !== null && (
        <p>
          Which agents there are could not be read: {agents.problem} <TryAgain onPress={agents.retry} />
        </p>
      )}
      {opened.kind === 'new' && opened.isMissing === true && (
        <p>The conversation in the address is not there, or not yours. This is a new one.</p>
      )}
    </div>
  );
}
