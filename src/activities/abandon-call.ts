import { cancellationSignal } from '@temporalio/activity';
import { abandonServerCall } from '../mcp/watch.ts';
import { createAskedCalls } from './asked-call.ts';
import type { AskedCall, AskedCallDependencies } from './asked-call.ts';

export function createAbandonCall(dependencies: AskedCallDependencies) {
  const calls = createAskedCalls(dependencies);
  return {
    /** Tells the server that nobody waits for the call any more. */
    async abandonCall(call: AskedCall): Promise<void> {
      const asked = await calls.find(call);
      if (asked?.round.resume.kind !== 'detached') return;
      await abandonServerCall({ ...asked, signal: cancellationSignal() }, asked.round.resume.call);
    },
  };
}
