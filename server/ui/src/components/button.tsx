import type { ReactNode } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import type { Scope } from '../app/session.js';
import { useSession } from '../app/session.js';

interface ButtonProps {
  readonly children: ReactNode;
  readonly onPress?: () => void;
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly isDisabled?: boolean;
  readonly isPending?: boolean;
  readonly isSmall?: boolean;
  readonly autoFocus?: boolean;
  /** The accessible name of a button that shows only a symbol. */
  readonly label?: string;
  /** The required scope; without it, the button is disabled with a reason. */
  readonly needs?: Scope;
  /** The text of the tooltip. */
  readonly hint?: string;
}

export function Button(props: ButtonProps): ReactNode {
  const { children, label, needs, hint, variant = 'plain', isSmall = false, ...rest } = props;
  const { can } = useSession();
  const isForbidden = needs !== undefined && !can(needs);
  const shownHint = isForbidden ? `Your token lacks the scope conductor:${needs}` : hint;
  const button = (
    <AriaButton
      {...rest}
      isDisabled={rest.isDisabled === true}
      // The button stays focusable, so that the user can read the reason.
      {...(isForbidden && { 'aria-disabled': true, onPress: () => undefined })}
      {...(label !== undefined && { 'aria-label': label })}
      className={`button ${variant}${isSmall ? ' small' : ''}${isForbidden ? ' forbidden' : ''}`}
    >
      {children}
    </AriaButton>
  );
  if (shownHint === undefined) return button;
  return (
    <TooltipTrigger delay={400}>
      {button}
      <Tooltip className="tooltip" offset={6}>
        {shownHint}
      </Tooltip>
    </TooltipTrigger>
  );
}
