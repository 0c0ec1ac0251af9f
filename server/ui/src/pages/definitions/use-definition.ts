/** Definitions of the server, kept current by the change stream. */
import type { DefinitionDocument } from '@stepwright/sdk';
import {
  keepPreviousData,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';

/** @param id empty for no definition */
export function useLatestDefinition(id: string): UseQueryResult<DefinitionDocument> {
  const { client } = useSession();
  const queries = useQueryClient();
  useLive(({ definitions, lag }) => {
    if (definitions.has(id) || lag) {
      void queries.invalidateQueries({ queryKey: ['definition', id, 'latest'] });
    }
  });
  return useQuery({
    queryKey: ['definition', id, 'latest'],
    queryFn: ({ signal }) => client.definitions.get(id, { signal }),
    refetchInterval: usePollInterval(),
    enabled: id !== '',
  });
}

/** A version never changes, so it is fetched only once. */
export function useDefinition(
  id: string,
  version: number,
  isWanted = true,
): UseQueryResult<DefinitionDocument> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['definition', id, version],
    queryFn: ({ signal }) => client.definitions.get(id, { version, signal }),
    staleTime: Infinity,
    enabled: isWanted,
    placeholderData: keepPreviousData,
  });
}
