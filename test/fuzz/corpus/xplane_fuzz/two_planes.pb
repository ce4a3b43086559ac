
¨/device:GPU:0AStream #1(Kernel)2"(À„=€‰z" "8"8" "8BStream #2(Kernel)2")€’ôÀ„=" "8	"8" "8"
fusion"/+'ncclDevKernel_AllReduce_Sum_f32_RING_LL*correlation_id*
hlo_op*
hlo_module*
program_id*kernel_details*	mul.1*jit_step* grid:4,1,1 block:256,1,1*
		ar*

	Hlo Proto2 „
¨/device:GPU:0AStream #1(Kernel)2"(À„=€‰z" "8"8" "8BStream #2(Kernel)2")€’ôÀ„=" "8	"8" "8"
fusion"/+'ncclDevKernel_AllReduce_Sum_f32_RING_LL*correlation_id*
hlo_op*
hlo_module*
program_id*kernel_details*	mul.1*jit_step* grid:4,1,1 block:256,1,1*
		ar*

	Hlo Proto2 „