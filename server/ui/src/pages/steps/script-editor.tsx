import { isApiError, type StoredStep } from '@stepwright/sdk';
import { useMemo, useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Finding } from '../../components/finding.js';
import { ProblemView } from '../../components/problem-view.js';
import { useToasts } from '../../components/toasts.js';
import { useUnsavedWarning } from '../../components/unsaved-warning.js';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.js';
import { placeProblems } from '../../editor/problem-places.js';

interface ScriptEditorProps {
  readonly name: string;
  readonly initialScript: string;
  /** The latest version of the step; null for a new one. */
  readonly latestVersion: number | null;
  readonly onStored: () => void;
}

/** Publishes a script as the next version, and marks its syntax errors and warnings. */
export function ScriptEditor(props: ScriptEditorProps): ReactNode {
  const { name, initialScript, onStored } = props;
  const { client, noticeFailure } = useSession();
  const { say } = useToasts();
  const [script, setScript] = useState(initialScript);
  const [storedScript, setStoredScript] = useState(initialScript);
  const [latest, setLatest] = useState(props.latestVersion);
  const [failure, setFailure] = useState<{ readonly error: unknown; readonly script: string }>();
  const [odd, setOdd] = useState<{ readonly stored: StoredStep; readonly script: string }>();
  const [isPending, setPending] = useState(false);
  useUnsavedWarning(script !== storedScript);
  const problems = useMemo(() => {
    if (failure !== undefined) return placeError(failure.script, failure.error);
    return odd === undefined ? [] : placeProblems(odd.script, odd.stored.warnings, true);
  }, [failure, odd]);
  const publish = async (): Promise<void> => {
    setPending(true);
    setFailure(undefined);
    setOdd(undefined);
    try {
      const stored = await client.steps.put(name, script);
      say(`Published ${name} as version ${stored.version}.`);
      setLatest(stored.version);
      setStoredScript(script);
      if (stored.warnings.length === 0) onStored();
      else setOdd({ stored, script });
    } catch (error) {
      noticeFailure(error);
      setFailure({ error, script });
    } finally {
      setPending(false);
    }
  };
  return (
    <div className="stacked">
      <LazyCodeEditor
        label="Script"
        language="python"
        value={script}
        onChange={setScript}
        problems={problems}
      />
      {failure !== undefined && <ProblemView error={failure.error} />}
      {odd !== undefined && <Warnings stored={odd.stored} onDone={onStored} />}
      <div className="definition-bar">
        <span className="hint">A step uses the latest version each time it runs.</span>
        <Button
          variant="primary"
          needs="author"
          isDisabled={name.trim() === ''}
          isPending={isPending}
          onPress={() => void publish()}
        >
          {latest === null ? 'Publish' : `Publish version ${latest + 1}`}
        </Button>
      </div>
    </div>
  );
}

/** The warnings about a published script; the author may accept them. */
function Warnings({
  stored: { version, warnings },
  onDone,
}: {
  readonly stored: StoredStep;
  readonly onDone: () => void;
}): ReactNode {
  return (
    <div role="status">
      <p>
        Version {version} has been published, but parts of it will fail.{' '}
        <Button isSmall onPress={onDone}>
          Keep this version
        </Button>
      </p>
      <ul className="findings" aria-label="Warnings">
        {warnings.map((item, at) => (
          <Finding key={at} item={item} kind="warning" />
        ))}
      </ul>
    </div>
  );
}

function placeError(script: string, error: unknown): ReturnType<typeof placeProblems> {
  if (!isApiError(error)) return [];
  const { detail, code, line, column } = error.problem;
  if (typeof line !== 'number') return [];
  const item = { code, message: detail, line, ...(typeof column === 'number' && { column }) };
  return placeProblems(script, [item], false);
}
