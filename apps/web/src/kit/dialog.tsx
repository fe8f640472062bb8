import './styles/overlays.ts'
import { Modal, type ModalProps } from '@mantine/core'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useT } from '../i18n/index.ts'
import { useFocusReturn } from './focus-return.ts'
import { questions } from './confirm.ts'

/** Whether a question is open. Escape then answers it and must not close what is below. */
export const useQuestionOpen = (): boolean => useSyncExternalStore(questions.subscribe, questions.current) !== null

/** Milliseconds during which a second click belongs to the double click that opened the dialog. */
const DOUBLE_CLICK = 500

type Props = Omit<ModalProps, 'opened' | 'returnFocus'> & {
  /** Omit it if the dialog is rendered only while open. */
  opened?: boolean
  /** The id of the dialog's row, which gets the focus if the element that opened the dialog is gone. */
  row?: number | null
}

/**
 * The library's dialog with our defaults: a named close button, and focus that always returns to what opened it (the
 * library does so only if `opened` turns false while rendered). Escape does not close it below a question. The second
 * click of a double click that opened it is ignored.
 */
export function Dialog({ opened = true, row = null, closeOnClickOutside = true, children, ...props }: Props) {
  const t = useT()
  const asking = useQuestionOpen()
  useFocusReturn(opened, row)
  const openedAt = useRef(0)
  useEffect(() => {
    if (opened) openedAt.current = performance.now()
  }, [opened])
  const isSecond = () => performance.now() - openedAt.current <= DOUBLE_CLICK
  const beside = () => {
    if (closeOnClickOutside && !isSecond()) props.onClose()
  }
  return (
    <Modal
      closeButtonProps={{ 'aria-label': t('close') }}
      // The library's header is a banner landmark, and a page has only one.
      attributes={{ header: { role: 'presentation' } }}
      // Above the dashboard's full view, below questions.
      zIndex={250}
      closeOnEscape={!asking}
      {...props}
      opened={opened}
      closeOnClickOutside={false}
      overlayProps={{
        onClick: beside,
        // Keep the focus in the dialog on a click outside.
        onMouseDown: event => event.preventDefault()
      }}
      onClickCapture={event => {
        if (event.detail < 2 || !isSecond()) return
        event.preventDefault()
        event.stopPropagation()
      }}
      returnFocus={false}
    >
      {children}
    </Modal>
  )
}
