/**
 * Why the account at a server cannot be used or connected now, as a code and the data of its sentence. `server` is its title, mostly
 * with its host. Data are status numbers and error codes, so that no secret can get in. Pure.
 */
import { z } from 'zod';

const text = z.string();
/** Null if it does not look like an error code of the OAuth registries. */
const error = text.nullable();

function troubled<const Code extends string, Data extends z.ZodRawShape>(codes: readonly Code[], data: Data) {
  return z.object({ code: z.enum(codes), server: text, ...data });
}

export const accountTroubleSchema = z.discriminatedUnion('code', [
  troubled(
    [
      // The kind of account does not fit.
      'no_user',
      'needs_own_account',
      'has_shared_account',
      'no_account_needed',
      'service_refused',
      // The server, and the documents about its sign-in.
      'unreachable',
      'timeout',
      'too-large',
      'redirected',
      'forbidden',
      'unreadable_document',
      'foreign_document',
      'settings_changed',
      // Its sign-in server.
      'sign_in_unusable',
      'sign_in_without_https',
      'sign_in_renamed',
      'sign_in_undescribed',
      'sign_in_changed',
      'sign_in_not_as_written',
      'sign_in_of_other',
      'no_pkce',
      'pushed_requests',
      'unsafe_address',
      'foreign_answer',
      'incomplete_answer',
      // The client that we are there.
      'no_registration',
      'registration_refused',
      'registration_away',
      'client_removed',
      'client_forgotten',
      // The stored account.
      'account_changing',
      'account_locked',
      'nango_away',
      'nango_busy',
      'nango_not_renewed',
      'nango_misconfigured',
      'nango_locked',
      'nango_no_token',
    ],
    {},
  ),
  troubled(['failing', 'request_refused'], { status: z.int() }),
  troubled(['refused', 'answered_error', 'client_not_accepted'], { error }),
  // `why`: for operators.
  troubled(['account_sealed', 'key_sealed', 'nango_sealed'], { why: text }),
]);

export type AccountTrouble = z.infer<typeof accountTroubleSchema>;
