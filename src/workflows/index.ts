/** What the workflow bundle exports: the one workflow type. */
export { agentTurn } from './agent-turn.ts';
