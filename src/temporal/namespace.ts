/**
 * Whether turns can start in the namespace: it exists, and knows the attributes that every turn is started with. Whoever
 * comes first, API or worker, makes it know them.
 */
import type { ConnectionLike } from '@temporalio/client';
import { searchAttributes } from '../workflows/messages.ts';
import { grpcStatus, grpcStatusOf } from './grpc-status.ts';

type Temporal = Pick<ConnectionLike, 'operatorService' | 'workflowService'>;

const attributes = Object.values(searchAttributes);
const names = attributes.map(({ name }) => name);
/** `IndexedValueType` in Temporal's API. */
const typeNumbers = { KEYWORD: 2, KEYWORD_LIST: 7 } as const;
/** As the command line of Temporal names them. */
const typeNames = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;
const { deadlineExceeded, unavailable, permissionDenied, unimplemented, unauthenticated } = grpcStatus;
/** The call took too long, was not answered, or not without another login. */
const noAnswer: number[] = [deadlineExceeded, unavailable, unauthenticated];
/** Where only administrators may do this. */
const notOurs: number[] = [permissionDenied, unimplemented];

/** Null when turns can start, else what is missing and what to do. Rejects when Temporal does not answer. */
export async function prepareNamespace(connection: Temporal, namespace: string): Promise<string | null> {
  return (await namespaceProblem(connection, namespace)) ?? attributesProblem(connection, namespace);
}

/** As `prepareNamespace`, of the namespace alone: once it was prepared, it keeps its attributes as long as it is there. */
export async function namespaceProblem(
  { workflowService }: Temporal,
  namespace: string,
): Promise<string | null> {
  try {
    await workflowService.describeNamespace({ namespace });
    return null;
  } catch (error) {
    const code = grpcStatusOf(error);
    if (code === grpcStatus.notFound)
      return `Temporal has no namespace "${namespace}"; create it (temporal operator namespace create --namespace ${namespace}) or correct TEMPORAL_NAMESPACE`;
    if (code === undefined || !notOurs.includes(code)) throw error;
    // What every caller may ask that may start turns: it says whether the login is refused altogether.
    await workflowService.describeTaskQueue({ namespace, taskQueue: { name: 'interlude' } });
    return null;
  }
}

async function attributesProblem(connection: Temporal, namespace: string): Promise<string | null> {
  const missing = await missingAttributes(connection, namespace);
  if (missing?.length === 0) return null;
  // What is there already may be added again.
  const outcome = await addAttributes(connection, namespace, missing ?? names);
  // Where neither is allowed, an administrator keeps this to himself, and a turn's start tells the rest.
  if (outcome === 'added' || (missing === null && outcome === 'not-allowed')) return null;
  return (
    `Temporal does not accept the search attributes of namespace "${namespace}"; create them yourself: ` +
    `temporal operator search-attribute create --namespace ${namespace} ${attributes
      .filter(({ name }) => (missing ?? names).includes(name))
      .map(({ name, type }) => `--name ${name} --type ${typeNames[type]}`)
      .join(' ')}`
  );
}

/** For a process that can do nothing without it. */
export async function requireNamespace(connection: Temporal, namespace: string): Promise<void> {
  const lack = await prepareNamespace(connection, namespace);
  if (lack !== null) throw new NamespaceUnusable(lack);
}

/** Null where the list cannot be read. */
async function missingAttributes({ operatorService }: Temporal, namespace: string): Promise<string[] | null> {
  try {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return names.filter((name) => !(name in customAttributes));
  } catch (error) {
    if (notOurs.includes(grpcStatusOf(error) ?? 0)) return null;
    throw error;
  }
}

async function addAttributes(
  { operatorService }: Temporal,
  namespace: string,
  missing: string[],
): Promise<'added' | 'not-allowed' | 'refused'> {
  const added = attributes
    .filter(({ name }) => missing.includes(name))
    .map(({ name, type }) => [name, typeNumbers[type]]);
  try {
    await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(added) });
    return 'added';
  } catch (error) {
    const code = grpcStatusOf(error);
    if (code === undefined || noAnswer.includes(code)) throw error;
    if (code === grpcStatus.alreadyExists) return 'added';
    return notOurs.includes(code) ? 'not-allowed' : 'refused';
  }
}

class NamespaceUnusable extends Error {
  override name = 'NamespaceUnusable';
}
