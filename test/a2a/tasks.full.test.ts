/** The other pairs of transport and version. */
import { useAskingService } from '../asking/asking-service.ts';
import { testTasks } from './tasks.ts';

testTasks(useAskingService(), [
  ['HTTP+JSON', '1.0'],
  ['JSONRPC', '0.3'],
]);
