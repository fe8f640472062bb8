import { Button, Loader, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { type MouseEvent, type Ref, useEffect, useId, useImperativeHandle, useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import { UnavailableHint } from '../../kit/unavailable-hint.tsx'
import classes from './kit.module.css'
import type { Icon } from './resource.ts'
import type { Action } from './row-actions.tsx'

/**
 * A button whose menu or popover is created when it first opens, because a list has many that are never used.
 * @returns `opener`: the button's props; `made`: set once the menu, with `Anchor` as its target, can render
 */
export function useOpener(opened: boolean, onChange: (opened: boolean) => void) {
  const id = useId()
  const [button, setButton] = useState<HTMLElement | null>(null)
  const [isMade, setIsMade] = useState(false)
  // Render it closed first: a menu that mounts open does not know where the focus was.
  useEffect(() => setIsMade(button !== null), [button])
  const shown = opened && isMade
  const opener = {
    id,
    'aria-expanded': shown,
    'aria-controls': shown ? `${id}-dropdown` : undefined,
    onClick: ({ currentTarget }: MouseEvent<HTMLElement>) => {
      // Some browsers do not focus a clicked button, but focus returns here later.
      currentTarget.focus()
      setButton(currentTarget)
      onChange(!opened)
    }
  }
  return { opener, button, made: { id, opened: shown, onChange } }
}

/** Makes an existing button the target of a menu or popover. */
export function Anchor({ of, ref }: { of: HTMLElement; ref?: Ref<HTMLElement> }) {
  useImperativeHandle(ref, () => of, [of])
  return null
}

export function ActionButton({ action }: { action: Action }) {
  const [busy, setBusy] = useState(false)
  const start = () => {
    if (busy) return
    setBusy(true)
    void action.run().finally(() => setBusy(false))
  }
  return (
    <Button
      variant="default"
      size="compact-sm"
      color={action.danger ? 'red' : 'gray'}
      leftSection={<action.icon size={16} aria-hidden />}
      aria-busy={busy}
      onClick={start}
    >
      {action.label}
    </Button>
  )
}

/** A row's actions: few as buttons, many in a menu. Unavailable ones stay focusable and show why. */
export function RowActions({ name, actions }: { name: string; actions: Action[] }) {
  const [busy, setBusy] = useState(false)
  // Do not disable the button while it runs: the focus could not return to it from a question.
  const start = (action: Action) => {
    if (busy || action.whyNot !== undefined) return
    setBusy(true)
    void action.run().finally(() => setBusy(false))
  }
  if (actions.length === 0) return null
  if (actions.length <= 2)
    return (
      <span style={{ display: 'inline-flex', gap: '0.15rem' }}>
        {actions.map(action => (
          <IconAction key={action.name} action={action} name={name} busy={busy} onStart={() => start(action)} />
        ))}
      </span>
    )
  return <ActionMenu name={name} actions={actions} busy={busy} onStart={start} />
}

type ActionMenuProps = { name: string; actions: Action[]; busy: boolean; onStart: (action: Action) => void }

/** A native button, with a menu created on demand: ten library menus took longer than the rest of ten rows. */
function ActionMenu({ name, actions, busy, onStart }: ActionMenuProps) {
  const t = useT()
  const [opened, setOpened] = useState(false)
  const { opener, button, made } = useOpener(opened, setOpened)
  return (
    <>
      <button
        type="button"
        className={classes.rowButton}
        aria-haspopup="menu"
        aria-busy={busy}
        aria-label={t('list.actionsOf', { name })}
        {...opener}
      >
        {busy ? <Loader size={16} color="gray" aria-hidden /> : <IconDots size={18} aria-hidden />}
      </button>
      {button && (
        <Menu
          {...made}
          position="bottom-end"
          withInitialFocusPlaceholder={false}
          width={220}
          shadow="md"
          withinPortal
          middlewares={{ size: { padding: 8 } }}
        >
          <Menu.Target>
            <Anchor of={button} />
          </Menu.Target>
          <Menu.Dropdown className={classes.menu}>
            {actions.map(action => (
              <MenuAction key={action.name} action={action} onStart={() => onStart(action)} />
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  )
}

function IconAction({
  action,
  name,
  busy,
  onStart
}: {
  action: Action
  name: string
  busy: boolean
  onStart: () => void
}) {
  const { whyNot, label, icon, danger } = action
  const button = (
    <RowButton
      label={label}
      name={name}
      icon={icon}
      busy={busy}
      danger={danger}
      titled={whyNot === undefined}
      onClick={onStart}
    />
  )
  // A list has hundreds of these, and most have no reason to show.
  if (whyNot === undefined) return button
  return (
    <UnavailableHint why={whyNot} shown={`${label}: ${whyNot}`}>
      {button}
    </UnavailableHint>
  )
}

function MenuAction({ action, onStart }: { action: Action; onStart: () => void }) {
  const id = useId()
  // On touch there is no hover or focus, so a press shows the reason.
  const [pressed, setPressed] = useState(false)
  const { whyNot } = action
  const off = whyNot !== undefined
  return (
    <Menu.Item
      leftSection={<action.icon size={16} aria-hidden />}
      aria-disabled={off || undefined}
      aria-describedby={off ? id : undefined}
      closeMenuOnClick={!off}
      data-pressed={pressed || undefined}
      className={off ? classes.notNow : undefined}
      style={action.danger && !off ? { color: 'var(--nl-bad)' } : undefined}
      onClick={off ? () => setPressed(true) : onStart}
    >
      {action.label}
      {off && (
        <span id={id} className={classes.whyNot} aria-hidden>
          {whyNot}
        </span>
      )}
    </Menu.Item>
  )
}

type Props = {
  label: string
  /** The row it applies to. */
  name: string
  icon: Icon
  busy: boolean
  danger?: boolean
  /** Shows the label on hover. */
  titled?: boolean
  onClick: () => void
}

/** A row's icon button, native because a list has hundreds. Other props, as from `UnavailableHint`, go to it. */
export function RowButton({ label, name, icon: Sign, busy, danger = false, titled = true, ...rest }: Props) {
  return (
    <button
      type="button"
      className={classes.rowButton}
      data-danger={danger || undefined}
      aria-label={`${label}: ${name}`}
      title={titled ? label : undefined}
      aria-busy={busy}
      {...rest}
    >
      <Sign size={17} aria-hidden />
    </button>
  )
}
