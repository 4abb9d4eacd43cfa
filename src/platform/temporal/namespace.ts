/**
 * Whether turns can start in the namespace: it must exist and have the search attributes of turns. The API or a worker,
 * whichever starts first, adds them.
 */
import type { ConnectionLike } from '@temporalio/client';
import { searchAttributes } from '../../workflows/messages.ts';
import { grpcStatus, grpcStatusOf } from './grpc-status.ts';

type Temporal = Pick<ConnectionLike, 'operatorService' | 'workflowService'>;

const attributes = Object.values(searchAttributes);
const names = attributes.map(({ name }) => name);
/** `IndexedValueType` in Temporal's API. */
const typeNumbers = { KEYWORD: 2, KEYWORD_LIST: 7 } as const;
/** Type names of Temporal's command line. */
const typeNames = { KEYWORD: 'Keyword', KEYWORD_LIST: 'KeywordList' } as const;
const { deadlineExceeded, unavailable, permissionDenied, unimplemented, unauthenticated } = grpcStatus;
/** The call took too long, was not answered, or needs another login. */
const noAnswer: number[] = [deadlineExceeded, unavailable, unauthenticated];
/** Only administrators may do this. */
const notOurs: number[] = [permissionDenied, unimplemented];

/** Null if turns can start, otherwise what is missing and what to do. Rejects if Temporal does not answer. */
export async function prepareNamespace(connection: Temporal, namespace: string): Promise<string | null> {
  return (await namespaceProblem(connection, namespace)) ?? attributesProblem(connection, namespace);
}

/** Like `prepareNamespace`, without the attributes, which a namespace keeps once it was prepared. */
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
    // Every caller that may start turns may ask this: it fails if the login is refused.
    await workflowService.describeTaskQueue({ namespace, taskQueue: { name: 'interlude' } });
    return null;
  }
}

async function attributesProblem(connection: Temporal, namespace: string): Promise<string | null> {
  const missing = await missingAttributes(connection, namespace);
  if (missing?.length === 0) return null;
  // Attributes that exist may be added again.
  const outcome = await addAttributes(connection, namespace, missing ?? names);
  // If neither is allowed, we cannot know more before a turn starts.
  if (outcome === 'added' || (missing === null && outcome === 'not-allowed')) return null;
  return (
    `Temporal does not accept the search attributes of namespace "${namespace}"; create them yourself: ` +
    `temporal operator search-attribute create --namespace ${namespace} ${attributes
      .filter(({ name }) => (missing ?? names).includes(name))
      .map(({ name, type }) => `--name ${name} --type ${typeNames[type]}`)
      .join(' ')}`
  );
}

/** For a process that cannot work without it. */
export async function requireNamespace(connection: Temporal, namespace: string): Promise<void> {
  const lack = await prepareNamespace(connection, namespace);
  if (lack !== null) throw new NamespaceUnusable(lack);
}

/** Null if the list cannot be read. */
export async function missingAttributes(
  { operatorService }: Temporal,
  namespace: string,
): Promise<string[] | null> {
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
