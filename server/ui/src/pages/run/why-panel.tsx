import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Explanation, WaitReason } from '@stepwright/sdk';
import { toPath } from '../../app/path.js';
import { Button } from '../../components/button.js';
import { useNow } from '../../components/time-ago.js';
import { ErrorDetails } from './error-details.js';
import { ActionForm, type FormKind } from './action-forms.js';
import { freshText } from './fresh-text.js';
import { ControlButton, type useControl } from './run-actions.js';

interface WhyPanelProps {
  readonly explanation: Explanation;
  /** When it was read, by the browser's clock. */
  readonly readMs: number;
  readonly control: ReturnType<typeof useControl>;
  readonly onDone: () => void;
}

interface OpenForm {
  readonly reason: WaitReason;
  readonly kind: FormKind;
}

const FORM_LABELS: Readonly<Record<FormKind, string>> = {
  'publish-event': 'Publish the event …',
  'complete-activity': 'Complete …',
  'fail-activity': 'Fail …',
};

const TONES: Readonly<Record<string, string>> = {
  suspended: 'warning',
  'set-aside': 'bad',
  compensating: 'warning',
  retry: 'bad',
  event: 'waiting',
  activity: 'waiting',
  workflow: 'waiting',
  timer: 'waiting',
  debounce: 'waiting',
  queue: 'waiting',
  limit: 'waiting',
  running: 'running',
  scheduled: 'running',
};

/** Explains why the run is waiting, with buttons for the next actions. */
export function WhyPanel(props: WhyPanelProps): ReactNode {
  const { explanation, readMs, control, onDone } = props;
  const [form, setForm] = useState<OpenForm | null>(null);
  const { summary, reasons, moreReasons, status } = explanation;
  // The clocks of the browser and the server may differ.
  const nowMs = Date.parse(explanation.time) + Math.max(0, useNow() - readMs);
  const fresh = (text: string, reason: WaitReason | undefined): string =>
    reason === undefined ? text : freshText(text, reason, explanation, nowMs);
  const isOver = status === 'Complete' || status === 'Terminated';
  const tone = isOver ? (status === 'Complete' ? 'good' : 'bad') : TONES[reasons[0]?.kind ?? ''];
  return (
    <section className={`why panel ${tone ?? ''}`} aria-labelledby="why-title">
      <h2 id="why-title">{titleOf(isOver, reasons)}</h2>
      <p className="why-summary">
        <bdi>{fresh(summary, reasons[0])}</bdi>
      </p>
      <ul className="reasons">
        {reasons.map((reason, at) => (
          <li key={at} className={`reason ${TONES[reason.kind] ?? ''}`}>
            <Reason
              reason={reason}
              text={summary.endsWith(reason.text) ? null : fresh(reason.text, reason)}
            />
            <div className="reason-actions">
              {reason.actions.map((action) => (
                <FixButton
                  key={action}
                  {...{ action, control }}
                  onForm={(kind) => setForm({ reason, kind })}
                />
              ))}
            </div>
          </li>
        ))}
        {moreReasons > 0 && <li className="quiet">and {moreReasons} more open steps</li>}
      </ul>
      {form !== null && (
        <ActionForm
          workflowId={explanation.workflowId}
          {...form}
          onClose={() => setForm(null)}
          onDone={() => {
            setForm(null);
            onDone();
          }}
        />
      )}
    </section>
  );
}

const ACTIVE: ReadonlySet<WaitReason['kind']> = new Set(['running', 'scheduled']);

function titleOf(isOver: boolean, reasons: readonly WaitReason[]): string {
  if (isOver) return 'How it ended';
  return reasons.every(({ kind }) => ACTIVE.has(kind)) ? 'What it is doing' : 'Why it waits';
}

/** The button for an action; suspend, terminate, the tags and repairs are at the top of the page, as is the repair. */
function FixButton({
  action,
  control,
  onForm,
}: {
  readonly action: WaitReason['actions'][number];
  readonly control: ReturnType<typeof useControl>;
  readonly onForm: (kind: FormKind) => void;
}): ReactNode {
  switch (action) {
    case 'suspend':
    case 'terminate':
    case 'set-tags':
    case 'set-priority':
    case 'restart':
    case 'modify':
    case 'rerun':
      return null;
    case 'resume':
    case 'retry':
      return <ControlButton isSmall {...{ action, control }} />;
    case 'publish-event':
    case 'complete-activity':
    case 'fail-activity':
      return (
        <Button
          isSmall
          needs="controller"
          variant={action === 'fail-activity' ? 'danger' : 'primary'}
          onPress={() => onForm(action)}
        >
          {FORM_LABELS[action]}
        </Button>
      );
  }
}

function Reason({
  reason,
  text,
}: {
  readonly reason: WaitReason;
  /** Null if the summary says it. */
  readonly text: string | null;
}): ReactNode {
  const { stepId, stepName, index, limit, workflowId, nodeId, error, holders = [] } = reason;
  return (
    <div className="reason-text">
      {stepId !== null && (
        <span className="reason-step">
          <bdi>{stepName ?? stepId}</bdi>
          {stepName !== null && (
            <code>
              <bdi>{stepId}</bdi>
            </code>
          )}
          {index !== null && <span className="quiet">item {index}</span>}
        </span>
      )}
      {text !== null && <bdi>{text}</bdi>}
      {limit !== undefined && <Link href={toPath('limits', limit)}>Open the limit</Link>}
      {workflowId !== undefined && (
        <Link href={toPath('runs', workflowId)}>Open the child run</Link>
      )}
      {holders.map((holder) => (
        <Link key={holder} href={toPath('runs', holder)}>
          run <code>{holder}</code>
        </Link>
      ))}
      {nodeId !== undefined && (
        <span className="quiet">
          on node <bdi>{nodeId}</bdi>
        </span>
      )}
      {error !== null && <ErrorDetails error={error} />}
    </div>
  );
}
