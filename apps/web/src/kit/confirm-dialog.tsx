import './styles/overlays.ts'
import { ModalsProvider, useModals } from '@mantine/modals'
import { useEffect } from 'react'
import { useT } from '../i18n/index.ts'
import type { questions } from './confirm.ts'

type Props = { asked: ReturnType<typeof questions.current> }

export default function ConfirmDialog({ asked }: Props) {
  return (
    <ModalsProvider>
      <Opener asked={asked} />
    </ModalsProvider>
  )
}

/** Opens the library's dialog for the question that is asked, and closes it with the question. */
function Opener({ asked }: Props) {
  const t = useT()
  const modals = useModals()
  useEffect(() => {
    if (!asked) return
    const id = modals.openConfirmModal({
      title: asked.title,
      children: (
        <p className="dim" style={{ whiteSpace: 'pre-line' }}>
          {asked.body}
        </p>
      ),
      labels: { confirm: asked.yes ?? t('yes'), cancel: asked.no ?? t('no') },
      confirmProps: asked.danger ? { color: 'red.9' } : {},
      cancelProps: { 'data-autofocus': true },
      groupProps: { mt: '0.5rem', gap: '0.75rem' },
      closeButtonProps: { 'aria-label': t('close') },
      size: 'sm',
      zIndex: 400,
      onConfirm: () => asked.answer(true),
      // However it was closed: after YES the question has its answer already.
      onClose: () => asked.answer(false)
    })
    return () => modals.closeModal(id)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each question
  }, [asked])
  return null
}
