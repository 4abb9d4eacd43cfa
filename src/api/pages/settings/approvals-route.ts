/** `/connections/approvals` (POST): withdraws what was approved in advance. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ElicitationIdSchema } from '../../../contract/ids.ts';
import { ServiceError } from '../../../service/service-error.ts';
import type { PageContext } from '../context.ts';
import { principalOf } from '../login/session.ts';
import { settingsUrl } from './change.ts';
import { readSignedForm } from './signed-form.ts';

const form = z.object({ approval: ElicitationIdSchema, csrf: z.string() });

export function approvalRoute(fastify: FastifyInstance, context: PageContext): void {
  const { config, approvals } = context;

  fastify.post('/connections/approvals', async (request, reply) => {
    const read = await readSignedForm(context, form, request, reply);
    if (!read) return reply;
    try {
      await approvals.withdraw(principalOf(read.session), read.input.approval, request.ip);
    } catch (error) {
      // Withdrawn twice is withdrawn.
      if (!(error instanceof ServiceError) || error.code !== 'approval_not_found') throw error;
    }
    return reply.redirect(`${settingsUrl(config, request)}#approvals`, 303);
  });
}
