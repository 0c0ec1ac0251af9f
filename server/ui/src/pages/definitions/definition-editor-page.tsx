import type { DefinitionCheck, DefinitionDocument } from '@stepwright/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Finding } from '../../components/finding.js';
import { ProblemView } from '../../components/problem-view.js';
import { useToasts } from '../../components/toasts.js';
import { useUnsavedWarning } from '../../components/unsaved-warning.js';
import { definitionCompletion, definitionHover } from '../../editor/definition-completion.js';
import { readSchema } from '../../editor/definition-schema.js';
import type { EditorProblem } from '../../editor/editor-problem.js';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.js';
import { placeProblems, syntaxProblems } from '../../editor/problem-places.js';
import { WorkflowGraph } from '../../graph/workflow-graph.js';
import {
  documentText,
  editableText,
  formatOf,
  NEW_DEFINITION,
  readDocument,
  type DocumentFormat,
} from './document-text.js';
import './definitions.css';

/** The editor for a new definition (`id` null), or for the next version of an existing one. */
export function DefinitionEditorPage({ id }: { readonly id: string | null }): ReactNode {
  const { client } = useSession();
  const known = useQuery({
    queryKey: ['definition', id, 'to edit'],
    queryFn: async ({ signal }) => {
      const latest = await client.definitions.get(id ?? '', { signal });
      const { version = 1 } = latest;
      return { latest, source: await client.definitions.source(latest.id, { version, signal }) };
    },
    enabled: id !== null,
    // A refetch must not overwrite the user's edits.
    staleTime: Infinity,
    gcTime: 0,
  });
  const title = id === null ? 'New definition' : `Edit ${id}`;
  if (id !== null && known.data === undefined) {
    return (
      <Page title={title}>
        {known.error === null ? <Loading /> : <ProblemView error={known.error} />}
      </Page>
    );
  }
  if (known.data === undefined) {
    return <Editor title={title} initialText={NEW_DEFINITION} latest={null} />;
  }
  const { latest, source } = known.data;
  return <Editor title={title} initialText={editableText(latest, source)} latest={latest} />;
}

const CHECK_PAUSE_MS = 400;

function Editor({
  title,
  initialText,
  latest,
}: {
  readonly title: string;
  readonly initialText: string;
  /** The latest version of the definition; null for a new one. */
  readonly latest: DefinitionDocument | null;
}): ReactNode {
  const [text, setText] = useState(initialText);
  useUnsavedWarning(text !== initialText);
  const settled = useSettled(text, CHECK_PAUSE_MS);
  const format = formatOf(settled);
  const syntax = useMemo(() => syntaxProblems(settled), [settled]);
  // The server could only repeat the page's own syntax errors.
  const check = useCheck(settled, syntax.length === 0);
  const help = useHelp(format);
  const preview = usePreview(settled);
  const found = useProblems(settled, check.data);
  const problems = syntax.length > 0 ? syntax : found;
  const isChecked = text === settled && syntax.length === 0 && !check.isPlaceholderData;
  const convert = (): void => {
    const document = readDocument(text);
    if (typeof document !== 'object' || document === null) return;
    setText(documentText(document, format === 'json' ? 'yaml' : 'json'));
  };
  return (
    <Page
      title={title}
      actions={
        <>
          <Button onPress={convert} isDisabled={readDocument(text) === undefined}>
            Convert to {format === 'json' ? 'YAML' : 'JSON'}
          </Button>
          <PublishButton
            text={text}
            latest={latest}
            isValid={isChecked && check.data?.valid === true}
          />
        </>
      }
    >
      <div className="definition-editor">
        <div className="definition-editor-text">
          <LazyCodeEditor
            label="Definition document"
            value={text}
            language={format}
            onChange={setText}
            problems={problems}
            {...help}
          />
          <Findings {...{ text: settled, syntax, check }} />
        </div>
        <WorkflowGraph definition={preview} label="Preview of the steps" />
      </div>
    </Page>
  );
}

function useProblems(text: string, check: ReturnType<typeof useCheck>['data']) {
  return useMemo(
    () =>
      check === undefined
        ? []
        : [
            ...placeProblems(text, check.errors, false),
            ...placeProblems(text, check.warnings, true),
          ],
    [check, text],
  );
}

function useCheck(text: string, isWanted: boolean) {
  const { client } = useSession();
  return useQuery({
    queryKey: ['definition check', text],
    queryFn: ({ signal }) => client.definitions.validate(text, { signal }),
    enabled: isWanted,
    gcTime: 0,
    placeholderData: (before) => before,
  });
}

/** Completions and explanations, once the schema is loaded. */
function useHelp(format: DocumentFormat) {
  const schema = useQuery({
    queryKey: ['definition schema'],
    queryFn: async ({ signal }) => {
      const response = await fetch('/schemas/definition.json', { signal });
      return readSchema(await response.json());
    },
    staleTime: Infinity,
  });
  const { data } = schema;
  return useMemo(
    () =>
      data === undefined
        ? {}
        : { completions: definitionCompletion(data, format), hover: definitionHover(data) },
    [data, format],
  );
}

/** The last document that could be parsed. */
function usePreview(text: string): unknown {
  const document = useMemo(() => readDocument(text), [text]);
  const [last, setLast] = useState(document);
  if (document !== undefined && document !== last) setLast(document);
  return document ?? last;
}

function useSettled<T>(value: T, pauseMs: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}

function PublishButton({
  text,
  latest,
  isValid,
}: {
  readonly text: string;
  readonly latest: DefinitionDocument | null;
  readonly isValid: boolean;
}): ReactNode {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [isPending, setPending] = useState(false);
  const publish = async (): Promise<void> => {
    setPending(true);
    try {
      const { id, version } = await client.definitions.register(text);
      await queries.invalidateQueries({ queryKey: ['definition', id, 'latest'] });
      say(`Published ${id} as version ${version}.`);
      navigate(toPath('definitions', id));
    } catch (error) {
      noticeFailure(error);
      notifyError('Not published', error);
      setPending(false);
    }
  };
  return (
    <Button
      variant="primary"
      needs="author"
      isDisabled={!isValid}
      isPending={isPending}
      onPress={() => void publish()}
    >
      {latest !== null && hasId(text, latest.id) ? `Publish version ${nextOf(latest)}` : 'Publish'}
    </Button>
  );
}

/** The server assigns the version, which differs if another user publishes in the meantime. */
function nextOf({ version }: DefinitionDocument): number {
  return (version ?? 0) + 1;
}

/** True if the document still has this id; with another id, it becomes a version of another definition. */
function hasId(text: string, id: string): boolean {
  const document = readDocument(text);
  if (typeof document !== 'object' || document === null) return true;
  const members = Object.entries(document);
  return members.some(([name, value]) => name.toLowerCase() === 'id' && value === id);
}

const FINDINGS_SHOWN = 30;

interface FindingsProps {
  readonly text: string;
  readonly syntax: readonly EditorProblem[];
  readonly check: ReturnType<typeof useCheck>;
}

function Findings({ text, syntax, check }: FindingsProps): ReactNode {
  const [problem] = syntax;
  if (problem !== undefined) {
    const line = text.slice(0, problem.from).split('\n').length;
    return (
      <p className="form-problem" role="status">
        Line {line}: {problem.message}
      </p>
    );
  }
  if (check.error !== null) return <ProblemView error={check.error} />;
  return check.data === undefined ? null : <CheckFindings check={check.data} />;
}

function CheckFindings({ check }: { readonly check: DefinitionCheck }): ReactNode {
  const { errors, warnings } = check;
  if (errors.length + warnings.length === 0) {
    return (
      <p className="hint" role="status">
        The server found no problems.
      </p>
    );
  }
  return (
    <div role="status">
      <ul className="findings" aria-label="Errors and warnings">
        {errors.slice(0, FINDINGS_SHOWN).map((item, at) => (
          <Finding key={at} item={item} kind="error" />
        ))}
        {warnings.slice(0, FINDINGS_SHOWN).map((item, at) => (
          <Finding key={at} item={item} kind="warning" />
        ))}
      </ul>
    </div>
  );
}
