import { isGrpcServiceError } from '@temporalio/client';
import type { ConnectionLike } from '@temporalio/client';
import { searchAttributes } from './workflows/messages.ts';

const names = Object.values(searchAttributes).map(({ name }) => name);
/** `INDEXED_VALUE_TYPE_KEYWORD` in Temporal's API; all of ours are keywords. */
const keyword = 2;
/** gRPC's codes. */
const notFound = 5;
const alreadyExists = 6;

/** Makes the namespace know the attributes every turn is started with; harmless when it knows them already. */
export async function registerSearchAttributes(
  connection: Pick<ConnectionLike, 'operatorService'>,
  namespace: string,
): Promise<void> {
  const attributes = Object.fromEntries(names.map((name) => [name, keyword]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: attributes });
  } catch (error) {
    const code = isGrpcServiceError(error) ? Number(error.code) : undefined;
    if (code === alreadyExists) return;
    if (code === notFound) {
      throw new SearchAttributesMissing(
        `Temporal has no namespace "${namespace}". Create it (temporal operator namespace create --namespace ${namespace}) or correct TEMPORAL_NAMESPACE.`,
      );
    }
    // Adding may be forbidden where an administrator has done it.
    const missing = await missingSearchAttributes(connection, namespace).catch(() => names);
    if (missing.length === 0) return;
    throw new SearchAttributesMissing(
      `Temporal does not accept the search attributes of namespace "${namespace}". Create them yourself: ` +
        `temporal operator search-attribute create --namespace ${namespace} --type Keyword --name ${names.join(' --name ')}`,
      { cause: error },
    );
  }
}

/** Those that the namespace does not know. */
export async function missingSearchAttributes(
  { operatorService }: Pick<ConnectionLike, 'operatorService'>,
  namespace: string,
): Promise<string[]> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return names.filter((name) => !(name in customAttributes));
}

class SearchAttributesMissing extends Error {
  override name = 'SearchAttributesMissing';
}
