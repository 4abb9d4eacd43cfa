/** Today's types of what passes between workflow code and its processes, by the names in histories. */
import type { SignalDefinition } from '@temporalio/workflow';
import type { createActivities } from '../../src/activities/index.ts';
import type * as messages from '../../src/workflows/messages.ts';

type Activities = ReturnType<typeof createActivities>;
type Messages = typeof messages;

/** Members that are not read any more may still be sent. */
type Loose<T> = T extends (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? { [Key in keyof T]: Loose<T[Key]> } & { [more: string]: unknown }
    : T;

export type Input<Name extends keyof Activities> = Loose<Parameters<Activities[Name]>[0]>;
export type Result<Name extends keyof Activities> = Loose<Awaited<ReturnType<Activities[Name]>>>;

/** Signals by their names in histories, where those differ from the names of their definitions. */
interface Renamed {
  serverNews: 'questionUpdate';
}
type DefinitionOf<Name> = Name extends keyof Renamed ? Renamed[Name] : Name;
export type Signal<Name extends string> =
  DefinitionOf<Name> extends keyof Messages
    ? Messages[DefinitionOf<Name>] extends SignalDefinition<infer Args>
      ? Args extends [infer Argument, ...unknown[]]
        ? Loose<Argument>
        : never
      : never
    : never;
