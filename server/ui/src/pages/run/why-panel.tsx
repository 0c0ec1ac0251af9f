import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Explanation, WaitReason } from '@stepwright/sdk';
import { toPath } from '../../app/path.js';
import { Button } from '../../components/button.js';
import { ErrorDetails } from './error-details.js';
import { ActionForm, type FormKind } from './action-forms.js';
import { ControlButton, type useControl } from './run-actions.js';

interface WhyPanelProps {
  readonly explanation: Explanation;
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
  running: 'running',
  scheduled: 'running',
};

/** Why the run is waiting, in words, with buttons for the actions that help. */
export function WhyPanel({ explanation, control, onDone }: WhyPanelProps): ReactNode {
  const [form, setForm] = useState<OpenForm | null>(null);
  const { summary, reasons, moreReasons, status } = explanation;
  const isOver = status === 'Complete' || status === 'Terminated';
  const tone = isOver ? (status === 'Complete' ? 'good' : 'bad') : TONES[reasons[0]?.kind ?? ''];
  return (
    <section className={`why panel ${tone ?? ''}`} aria-labelledby="why-title">
      <h2 id="why-title">{isOver ? 'How it ended' : 'Why it waits'}</h2>
      <p className="why-summary">
        <bdi>{summary}</bdi>
      </p>
      <ul className="reasons">
        {reasons.map((reason, at) => (
          <li key={at} className={`reason ${TONES[reason.kind] ?? ''}`}>
            <Reason reason={reason} isSummary={summary.endsWith(reason.text)} />
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

/** The button for an action; suspend, terminate and the tags are at the top of the page. */
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
  isSummary,
}: {
  readonly reason: WaitReason;
  readonly isSummary: boolean;
}): ReactNode {
  const { stepId, stepName, index, workflowId, nodeId, error } = reason;
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
      {!isSummary && <bdi>{reason.text}</bdi>}
      {workflowId !== undefined && (
        <Link href={toPath('runs', workflowId)}>Open the child run</Link>
      )}
      {nodeId !== undefined && (
        <span className="quiet">
          on node <bdi>{nodeId}</bdi>
        </span>
      )}
      {error !== null && <ErrorDetails error={error} />}
    </div>
  );
}
