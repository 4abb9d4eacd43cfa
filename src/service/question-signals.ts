/** What workflows are told about the questions that they wait for. `gone`: the addressed workflow has ended, or is forgotten. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { answerElicitation, connectionEstablished, questionUpdate } from '../workflows/messages.ts';
import type { AnswerElicitation, ConnectionEstablished, QuestionUpdate } from '../workflows/messages.ts';

export type Delivery = 'delivered' | 'gone';

const deadlineMs = 5_000;

/** Rejects when Temporal does not take the signal in time. */
export interface QuestionSignals {
  answered(workflowId: string, answer: AnswerElicitation): Promise<Delivery>;
  connected(workflowId: string, connection: ConnectionEstablished): Promise<Delivery>;
  updated(workflowId: string, update: QuestionUpdate): Promise<Delivery>;
}

/** `within`: makes a call that fails at its deadline. */
export function createQuestionSignals(
  client: Client,
  within: (call: () => Promise<void>) => Promise<void> = (call) =>
    client.withDeadline(Date.now() + deadlineMs, call),
): QuestionSignals {
  async function send(
    workflowId: string,
    message: (turn: WorkflowHandle) => Promise<void>,
  ): Promise<Delivery> {
    try {
      await within(() => message(client.workflow.getHandle(workflowId)));
      return 'delivered';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'gone';
      throw error;
    }
  }

  return {
    answered: (workflowId, answer) => send(workflowId, (turn) => turn.signal(answerElicitation, answer)),
    connected: (workflowId, connection) =>
      send(workflowId, (turn) => turn.signal(connectionEstablished, connection)),
    updated: (workflowId, update) => send(workflowId, (turn) => turn.signal(questionUpdate, update)),
  };
}
