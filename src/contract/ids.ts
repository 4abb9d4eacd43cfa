import { z } from 'zod';

const form = /^[A-Za-z0-9._:-]{1,128}$/;

/** Ids that clients may choose: conversations, messages. */
export const ClientIdSchema = z
  .string()
  .regex(form, 'use 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-"');

/** Ids that we chose and clients hand back. What cannot be one is not looked for: some texts fail in a database. */
export const ElicitationIdSchema = z.string().regex(form, 'this is not the id of a question');
