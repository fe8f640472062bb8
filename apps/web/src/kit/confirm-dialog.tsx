import './styles/overlays.ts'
import { Button, Group, TextInput } from '@mantine/core'
import { ModalsProvider, useModals } from '@mantine/modals'
import { useEffect, useState } from 'react'
import { QUESTION } from '../api/use-mutation.ts'
import { useT } from '../i18n/index.ts'
import classes from './confirm-dialog.module.css'
import type { questions } from './confirm.ts'
import { useFocusReturn } from './focus-return.ts'
import { numberText } from './money.ts'

type Props = { asked: ReturnType<typeof questions.current> }

export default function ConfirmDialog({ asked }: Props) {
  return (
    <ModalsProvider>
      <Opener asked={asked} />
    </ModalsProvider>
  )
}

/** Opens the library's dialog for the current question, and closes it with the question. */
function Opener({ asked }: Props) {
  const t = useT()
  const modals = useModals()
  useFocusReturn(asked !== null)
  useEffect(() => {
    if (!asked) return
    const body = <p className="dim lines">{asked.body}</p>
    const shared = {
      title: asked.title,
      closeButtonProps: { 'aria-label': t('close') },
      size: 'sm',
      returnFocus: false,
      [QUESTION]: true,
      zIndex: 400,
      // Closing counts as NO. After YES the question already has its answer.
      onClose: () => asked.answer(false)
    }
    const id = asked.blocked
      ? modals.openModal({
          ...shared,
          withCloseButton: false,
          children: (
            <>
              {body}
              <Group className={classes.answers ?? ''} justify="flex-end">
                <Button variant="default" data-autofocus onClick={() => asked.answer(false)}>
                  {t('close')}
                </Button>
              </Group>
            </>
          )
        })
      : asked.typed === undefined
        ? modals.openConfirmModal({
            ...shared,
            children: body,
            labels: { confirm: asked.yes ?? t('yes'), cancel: asked.no ?? t('no') },
            confirmProps: asked.danger ? { color: 'red.9' } : {},
            cancelProps: { 'data-autofocus': true },
            groupProps: { gap: '0.75rem', className: classes.answers ?? '' },
            onConfirm: () => asked.answer(true)
          })
        : modals.openModal({
            ...shared,
            children: (
              <>
                {body}
                <TypedAnswer asked={asked} number={asked.typed} onAnswer={asked.answer} />
              </>
            )
          })
    return () => modals.closeModal(id)
    // oxlint-disable-next-line react/exhaustive-deps -- once per question
  }, [asked])
  return null
}

type TypedProps = { asked: NonNullable<Props['asked']>; number: number; onAnswer: (yes: boolean) => void }

/** Enables YES when the number has been typed, with or without its commas. */
function TypedAnswer({ asked, number, onAnswer }: TypedProps) {
  const t = useT()
  const [typed, setTyped] = useState('')
  const right = typed.replaceAll(/[\s,]/g, '') === String(number)
  return (
    <form
      className={classes.answers}
      noValidate
      onSubmit={event => {
        event.preventDefault()
        if (right) onAnswer(true)
      }}
    >
      <TextInput
        label={t('confirm.type', { number: numberText(number) })}
        value={typed}
        onChange={event => setTyped(event.currentTarget.value)}
        inputMode="numeric"
        autoComplete="off"
        data-autofocus
      />
      <Group mt="md" gap="0.75rem" justify="flex-end">
        <Button variant="default" onClick={() => onAnswer(false)}>
          {asked.no ?? t('no')}
        </Button>
        <Button type="submit" disabled={!right} {...(asked.danger ? { color: 'red.9' } : {})}>
          {asked.yes ?? t('yes')}
        </Button>
      </Group>
    </form>
  )
}
