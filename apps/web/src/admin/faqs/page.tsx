import type { Faq } from '@netlet/contract'
import { support } from '../../api/routes.ts'
import { FaqForm } from '../../kit/schemas.ts'
import { column, defineResource, inChinese, integer, areaField } from '../kit/index.ts'

const question = areaField('question', { rows: 2 })
const answer = areaField('answer', { rows: 10 })

/** Answers are long: the list shows the start, the form all. */
const LINES = { WebkitLineClamp: 3 }

export default defineResource({
  key: 'faqs',
  list: support.faqs,
  nameOf: row => row.question,
  columns: [
    integer('id', { optional: true }),
    column(
      'question',
      (row: Faq) => (
        <span className="clamped lines" style={LINES}>
          {row.question}
        </span>
      ),
      { lead: true }
    ),
    column(
      'answer',
      (row: Faq) => (
        <span className="clamped lines" style={LINES}>
          {row.answer}
        </span>
      ),
      { wide: true }
    )
  ],
  sort: ['id'],
  form: {
    schema: FaqForm,
    fields: [question, answer, inChinese('question', question), inChinese('answer', answer)],
    create: support.createFaq,
    update: support.updateFaq,
    undo: true
  },
  remove: {
    route: support.deleteFaq,
    confirm: (t, { question }) => ({
      title: t('list.deleteTitle'),
      body: [t('list.deleteBody'), question, t('faqs.removal')].join('\n'),
      danger: true
    }),
    undo: row => ({ route: support.restoreFaq, input: { params: { id: row.id } } })
  },
  csv: true
})
