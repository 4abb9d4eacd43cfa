/** The client that CopilotKit and assistant-ui install. */
import { testRuns, useAgUiService } from './runs.ts';

testRuns(useAgUiService(), '0.0.59');
