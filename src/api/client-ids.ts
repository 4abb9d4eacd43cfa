import { z } from 'zod';

/** Ids that clients may choose: conversations, messages. */
export const clientId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'use 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-"');
