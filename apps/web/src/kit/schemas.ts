// First: it has to be in force before any schema is built.
import './no-eval.ts'

/**
 * The contract's rules that forms check by. They bring the validation library: only pages with a form import them. What
 * else the browser takes of the contract comes from its parts without schemas, or these would be built too early.
 */
export {
  ApiKeyForm,
  ApplyPaymentForm,
  ChangePasswordBody,
  ConfirmBody,
  EmailChangeBody,
  EmailChangeCodeBody,
  ExtendForm,
  ForgotBody,
  GiftCardForm,
  LoginBody,
  MoveOrderForm,
  PaymentNoteForm,
  RefundForm,
  SignUpBody,
  TicketForm
} from '@netlet/contract'
