/** The other version. */
import { useAskingService } from '../../asking/asking-service.ts';
import { testTasks } from './tasks.ts';

testTasks(useAskingService(), [['JSONRPC', '0.3']]);
