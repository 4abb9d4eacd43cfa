import { startAskingServers } from './asking.ts';
import { startIssuer } from './issuer.ts';
import { startTimedMcpServer } from './mcp.ts';
import { startModel } from './model.ts';

/** What the service of a bench needs besides Temporal and a database. Stopped with the stack. */
export async function startDoubles(stack: AsyncDisposableStack) {
  const [model, mcp, issuer, asking] = await Promise.all([
    startModel(),
    startTimedMcpServer(),
    startIssuer(),
    startAskingServers(),
  ]);
  for (const double of [model, mcp, issuer, asking]) stack.defer(() => double.stop());
  return { model, mcp, issuer, asking };
}
