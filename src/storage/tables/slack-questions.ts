import type { Database } from '../database.ts';
import type { SlackQuestions } from '../ports/slack.ts';

export function createSlackQuestions({ query }: Pick<Database, 'query'>): SlackQuestions {
  return {
    async wasSettledElsewhere(elicitationId) {
      const row = await query
        .selectFrom('elicitations')
        .leftJoin('elicitation_answers', (join) =>
          join
            .onRef('elicitation_answers.elicitation_id', '=', 'elicitations.id')
            .onRef('elicitation_answers.response_id', '=', 'elicitations.response_id'),
        )
        .select(['elicitations.status', 'elicitations.response_id', 'elicitation_answers.surface'])
        .where('elicitations.id', '=', elicitationId)
        .executeTakeFirst();
      if (!row) return false;
      // Nobody had to answer where the account was connected.
      const isFact = row.status === 'accept' && row.response_id === null;
      if (row.surface !== 'other' && !isFact) return false;
      const opened = await query
        .selectFrom('audit')
        .select('id')
        .where('elicitation_id', '=', elicitationId)
        .where('action', '=', 'opened')
        .executeTakeFirst();
      return opened === undefined;
    },
  };
}
