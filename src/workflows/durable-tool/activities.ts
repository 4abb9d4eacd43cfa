/** The activities of a tool's own workflow, run by the workers of its code: their inputs and results are sealed in history. */
import { proxyLocalActivities } from '@temporalio/workflow';
import type { DurableToolActivities } from '../../activities/durable-tools/durable-tools.ts';
import { shortWrites } from '../failures.ts';

export const { beginTool, openToolQuestion, readToolAnswer, finishTool } =
  proxyLocalActivities<DurableToolActivities>(shortWrites);
