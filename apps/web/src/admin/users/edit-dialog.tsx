import '../../kit/styles/forms.ts'
import type { User } from '@netlet/contract'
import { useState } from 'react'
import { useT } from '../../i18n/admin.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useOpenForm, type DialogProps } from '../kit/index.ts'
import { UserForm } from './user-form.tsx'

/** The Edit dialog. A click outside does not close it, to protect what is entered. */
export function EditDialog({ task, onClose, onSaved }: DialogProps<User>) {
  const t = useT()
  const [hasSecret, setHasSecret] = useState(false)
  const form = useOpenForm(task, { onClose, keepsDraft: !hasSecret })
  const { content, opened, mark, isUnsaved, leave, isOpen, saved } = form
  return (
    <Dialog
      opened={opened}
      onClose={leave}
      closeOnClickOutside={false}
      title={content && t('form.about', { what: t('list.edit'), name: content.row.username })}
      size="lg"
    >
      {content && (
        <UserForm
          key={content.id}
          user={content.row}
          onDirty={mark}
          onSecret={setHasSecret}
          isUnsaved={isUnsaved}
          onCancel={leave}
          isOpen={isOpen}
          onSaved={undo => {
            onSaved(undo)
            saved()
          }}
        />
      )}
    </Dialog>
  )
}
